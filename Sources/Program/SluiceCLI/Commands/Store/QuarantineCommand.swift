internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

/// The commands about rows of the server that could not be stored.
struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "Look at the rows of the server's that could not be stored.",
        subcommands: [QuarantineListCommand.self, QuarantineForgetCommand.self],
        defaultSubcommand: QuarantineListCommand.self)
}

struct QuarantineListCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List them, each with the reason and the row as the server wrote it.")

    @Option(help: "Only those of this table.")
    var table: String?

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let rows = try await session.context.quarantine(table: table)
            let text = TextTable(
                head: ["id", "reason", "at", "row"],
                rows: rows.map {
                    [Plain.line($0.id.text), Plain.line($0.reason), $0.at.description, Plain.line($0.raw)]
                })
            let widest = StandardStream.output.isTerminal ? 48 : Int.max
            return Outcome(
                json: ["rows": JSON(printing: rows)],
                text: rows.isEmpty ? ["all rows could be stored"] : text.lines(widest: widest))
        }
    }
}

struct QuarantineForgetCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget rows that have been looked at; they come back if the server sends them again.")

    @Argument(help: "Their ids, from sluice quarantine list.")
    var ids: [String] = []

    @Flag(help: "Forget all.")
    var all = false

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func validate() throws {
        if all == !ids.isEmpty { throw ValidationError("name rows by their ids, or give --all") }
    }

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let rows = try await session.context.quarantine()
            // An id is typed as it was listed, without characters that no terminal shows.
            let listed = Set(rows.map { RecordID(Plain.line($0.id.text)) })
            if let unknown = ids.first(where: { !listed.contains(RecordID($0)) }) {
                throw CommandFailure.usage("there is no row \(Plain.line(unknown)) in the quarantine")
            }
            let named = Set(ids.map(RecordID.init))
            let forgotten = rows.map(\.id).filter { all || named.contains(RecordID(Plain.line($0.text))) }
            try await session.context.removeFromQuarantine(forgotten)
            return Outcome(
                json: ["forgotten": JSON(forgotten.count)], text: ["\(Plain.count(forgotten.count, "row")) forgotten"])
        }
    }
}
