package import Sluice
package import SluiceLua
package import SluicePolicy

/// The state of a device's policy as JSON: for commands, and as the device's row in the fleet's table.
package enum PolicyReport {
    /// Returns the state for commands.
    package static func json(_ state: PolicyDevice.State, _ name: PolicyDeviceName) -> JSON {
        var json: JSON = [
            "device": JSON(name.id), "name": state.past.name.map { JSON($0) } ?? .null,
            "serving": number(state.serving),
            "servingSince": state.servingSince.map { JSON($0.description) } ?? .null,
            "stage": JSON(state.stage.rawValue), "trial": number(state.trial),
            "newest": JSON(state.past.version), "trialFigures": state.trialTally.json,
            "probationFigures": state.probationTally.json,
        ]
        json["withdrawn"] = withdrawn(state)
        return json
    }

    /// Returns the device's row: small, so that it costs the sync one operation and some hundred bytes.
    ///
    /// - Parameters:
    ///   - decisions: the newest decisions, the newest first; nil if none are reported, now or ever.
    ///   - isShort: whether the bytes of the day are spent, so that only versions and the count of errors go; nil without
    ///     a limit. The versions that the device has withdrawn go in any case, because a rollout stops by them.
    package static func row(
        _ state: PolicyDevice.State, _ name: PolicyDeviceName, at now: Timestamp, decisions: [PluginDecision]? = nil,
        isShort: Bool? = nil
    ) -> JSON {
        let isWhole = isShort != true
        let tally = state.trial != nil ? state.trialTally : state.probationTally
        let counts: JSON = ["calls": JSON(tally.calls), "errors": JSON(tally.errors)]
        let figures = isWhole ? tally.json : counts
        var row: JSON = [
            "id": JSON(name.id), "name": state.past.name.map { JSON($0) } ?? .null, "serving": number(state.serving),
            "stage": JSON(state.stage.rawValue), "newest": JSON(state.past.version),
            "figures": JSON(figures.description),
            "withdrawn": JSON(withdrawn(state, hasReasons: isWhole).description),
            "labels": JSON(
                name.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")),
            "reportedAt": JSON(now.description),
        ]
        if let decisions {
            let entries = JSON(decisions.map { entry($0) })
            row["decisions"] = isWhole && !decisions.isEmpty ? JSON(entries.description) : JSON.null
        }
        if let isShort { row["short"] = JSON(isShort) }
        return row
    }

    /// Returns a decision for the row: without inputs, answers and lines of the log, which may be large.
    private static func entry(_ decision: PluginDecision) -> JSON {
        var entry: JSON = [
            "at": JSON(decision.at.description), "plugin": JSON(decision.plugin), "hook": JSON(decision.hook.rawValue),
            "decision": JSON(decision.decision),
        ]
        entry["release"] = decision.release.map { JSON($0) }
        entry["table"] = decision.table.map { JSON($0) }
        entry["record"] = decision.recordID.map { JSON($0) }
        entry["reason"] = (decision.reason ?? decision.failure?.message).map { JSON(String($0.prefix(200))) }
        if decision.isShadow { entry["shadow"] = true }
        return entry
    }

    private static func number(_ version: Int?) -> JSON { version.map { JSON($0) } ?? .null }

    private static func withdrawn(_ state: PolicyDevice.State, hasReasons: Bool = true) -> JSON {
        JSON(
            members: state.past.withdrawn.sorted { $0.key < $1.key }.map {
                (PropertyName(String($0.key)), JSON(hasReasons ? $0.value : ""))
            })
    }
}
