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

/// A device's row in the fleet's table.
package struct PolicyReportRow: Sendable {
    package let device: String
    package let name: String
    package let serving: Int?
    package let stage: String
    package let newest: Int
    package let figures: PolicyTally
    package let withdrawn: [Int: String]
    package let labels: String
    package let reportedAt: Timestamp?

    /// Reads a row; nil if it has no id. Anything else that is missing is empty: the row comes from a device.
    package init?(_ row: JSON) {
        guard let device = row["id"]?.textID else { return nil }
        self.device = device.text
        name = row["name"]?.string ?? ""
        serving = row["serving"]?.int.flatMap { Int(exactly: $0) }
        stage = row["stage"]?.string ?? ""
        newest = row["newest"]?.int.flatMap { Int(exactly: $0) } ?? 0
        figures = PolicyTally((row["figures"]?.string).flatMap { try? JSON(parsing: $0) } ?? .object)
        var withdrawn: [Int: String] = [:]
        let list = (row["withdrawn"]?.string).flatMap { try? JSON(parsing: $0) }
        for (version, reason) in list?.members ?? [] {
            if let version = Int(version.text) { withdrawn[version] = reason.string ?? "" }
        }
        self.withdrawn = withdrawn
        labels = row["labels"]?.string ?? ""
        reportedAt = row["reportedAt"]?.string.flatMap { Timestamp($0) }
    }

    /// Whether the device has ever taken the version.
    package func has(_ name: String, _ version: Int) -> Bool {
        self.name == name && (newest == version || serving == version || withdrawn[version] != nil)
    }

    package func hasWithdrawn(_ version: Int) -> Bool { withdrawn[version] != nil }
}
