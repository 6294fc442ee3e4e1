internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct StatusCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say what the store waits for and how far its tables have been pulled.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        return try await ClientSession.run(settings, usesNetwork: false) { session in
            let status = try await session.context.status()
            let tables = try await TableStatus.all(in: session, status.cursors)
            let quarantined = try await session.context.quarantine().count
            let json = status.counts.setting([
                "quarantined": JSON(quarantined), "cursors": JSON(printing: status.cursors),
                "tables": JSON(tables.map(\.json)),
            ])
            let counts = [
                (status.pending, "pending"), (status.inFlight, "in flight"), (status.parked, "parked"),
                (status.dead, "dead"),
            ].filter { $0.0 > 0 }.map { "\(Plain.count($0.0)) \($0.1)" }
            var text = ["queue: \(counts.isEmpty ? "nothing waits" : counts.joined(separator: ", "))"]
            if status.ofOthers > 0 {
                text.append(
                    "\(Plain.count(status.ofOthers)) of these are another user's, and wait for that user's push")
            }
            text += tables.map(\.text)
            text += status.cursors.map { cursor in
                let reach =
                    cursor.updatedAt.isEmpty ? "has been pulled" : "is here up to \(Plain.line(cursor.updatedAt))"
                let note = cursor.grade == .full ? "; all rows are read by each pull" : ""
                return "\(cursor.table): query \(Plain.line(cursor.name)) \(reach)\(note)"
            }
            if quarantined > 0 {
                text.append("quarantine: \(Plain.count(quarantined, "row")) of the server's could not be stored")
            }
            return Outcome(json: json, text: text)
        }
    }
}
