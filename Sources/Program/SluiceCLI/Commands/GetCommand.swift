internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct GetCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Show one record of the local store.")

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The record's id.")
    var id: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            guard let record = try await session.context.table(table).lookup(id: id) else {
                throw CommandFailure(
                    .usage, "recordMissing", "the local store has no such record", table: table, recordID: RecordID(id))
            }
            let rows = (record.members ?? []).map { [Plain.line($0.name.text), TextTable.cell($0.value)] }
            return Outcome(json: record, text: Array(TextTable(head: ["", ""], rows: rows).lines().dropFirst()))
        }
    }
}
