internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct InsertCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "insert", abstract: "Add a record locally; the next push sends it.")

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The record as a JSON object, or - to read it from standard input. One without an id gets one.")
    var json: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let record = try RecordArgument.read(json, table: table)
        return try await ClientSession.run(
            try ClientSettings(connection), usesNetwork: false, asksPlugins: true, makesStore: true
        ) {
            session in
            try await RecordArgument.check(record, in: table, session.context)
            let stored = try await session.context.table(table).insert(record)
            return Outcome(
                json: stored,
                text: ["inserted \(TextTable.cell(stored["id"]))"]
                    + RecordArgument.notes(record, stored: stored, session.settings.dialect))
        }
    }
}
