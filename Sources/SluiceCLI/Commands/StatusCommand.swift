internal import ArgumentParser
internal import Sluice

struct StatusCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say what the store waits for and how far its tables have been pulled.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        return try await ClientSession.run(settings, usesNetwork: false) { session in
            let status = try await session.context.status()
            let cursors = status.cursors.map { cursor -> JSON in
                ["table": JSON(cursor.table), "query": JSON(cursor.name), "updatedAt": JSON(cursor.updatedAt)]
            }
            let json: JSON = [
                "pending": JSON(status.pending), "inFlight": JSON(status.inFlight), "parked": JSON(status.parked),
                "dead": JSON(status.dead), "cursors": JSON(cursors),
            ]
            let counts = [
                (status.pending, "pending"), (status.inFlight, "in flight"), (status.parked, "parked"),
                (status.dead, "dead"),
            ].filter { $0.0 > 0 }.map { "\(Plain.count($0.0)) \($0.1)" }
            var text = ["queue: \(counts.isEmpty ? "nothing waits" : counts.joined(separator: ", "))"]
            text += status.cursors.map {
                "\($0.table): query \(Plain.line($0.name)) is here up to \(Plain.line($0.updatedAt))"
            }
            return Outcome(json: json, text: text)
        }
    }
}
