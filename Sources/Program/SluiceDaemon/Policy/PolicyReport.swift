package import Sluice
package import SluicePolicy

/// The state of a device's policy as JSON: for commands, and as the device's row in the fleet's table.
package enum PolicyReport {
    /// Returns the state for commands.
    package static func json(_ state: PolicyDevice.State, _ name: PolicyDeviceName) -> JSON {
        var json: JSON = [
            "device": JSON(name.id), "name": state.past.name.map { JSON($0) } ?? .null,
            "serving": number(state.serving), "stage": JSON(state.stage.rawValue), "trial": number(state.trial),
            "newest": JSON(state.past.version), "trialFigures": state.trialTally.json,
            "probationFigures": state.probationTally.json,
        ]
        json["withdrawn"] = withdrawn(state)
        return json
    }

    /// Returns the device's row: small, so that it costs the sync one operation and some hundred bytes.
    package static func row(_ state: PolicyDevice.State, _ name: PolicyDeviceName, at now: Timestamp) -> JSON {
        let figures = state.trial != nil ? state.trialTally : state.probationTally
        return [
            "id": JSON(name.id), "name": state.past.name.map { JSON($0) } ?? .null, "serving": number(state.serving),
            "stage": JSON(state.stage.rawValue), "newest": JSON(state.past.version),
            "figures": JSON(figures.json.description), "withdrawn": JSON(withdrawn(state).description),
            "labels": JSON(
                name.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")),
            "reportedAt": JSON(now.description),
        ]
    }

    private static func number(_ version: Int?) -> JSON { version.map { JSON($0) } ?? .null }

    private static func withdrawn(_ state: PolicyDevice.State) -> JSON {
        JSON(
            members: state.past.withdrawn.sorted { $0.key < $1.key }.map {
                (PropertyName(String($0.key)), JSON($0.value))
            })
    }
}
