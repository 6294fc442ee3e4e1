internal import ArgumentParser
internal import Sluice

struct SQLCommand: StoreFileCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql", abstract: "Read the local store with SQL.",
        discussion: """
            One SELECT of SQLite, over the tables of records: a declared table has its columns, another one has id and \
            record. Nothing can be written. With --json: each row as a JSON object on a line.
            """)

    @Argument(help: ArgumentHelp("The statement.", valueName: "select"))
    var statement: String

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A value for the statement's next parameter: JSON, or else text. Once for each parameter.",
            valueName: "value"))
    var bind: [String] = []

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome(of store: SQLiteStore) async throws -> Outcome {
        let values = bind.map { (try? JSON(parsing: $0)) ?? JSON($0) }
        let result = try await rows(of: store, values)
        let table = TextTable(
            head: result.columns.map(Plain.line), rows: result.rows.map { $0.map { TextTable.cell($0) } })
        let widest = StandardStream.output.isTerminal ? 40 : Int.max
        var outcome = Outcome(json: .object, text: result.rows.isEmpty ? [] : table.lines(widest: widest))
        outcome.lines = result.objects
        return outcome
    }

    private func rows(of store: SQLiteStore, _ values: [JSON]) async throws -> SQLRows {
        do {
            return try await store.sql(statement, values)
        } catch let error as SluiceError where error.code == .limitReached {
            // The statement exceeds a limit; no server is involved.
            throw CommandFailure(.usage, error.code.description, error.message)
        }
    }
}
