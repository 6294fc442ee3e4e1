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

struct QueryCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Show records of the local store.",
        discussion: "With --json: {\"items\": [...], \"count\": N}; the count is of all that match, whatever --top is.")

    @Argument(help: "The table.")
    var table: String

    @Option(help: ArgumentHelp("Which records: \"year ge 1990 and rating eq 'R'\".", valueName: "odata"))
    var filter: String?

    @Option(help: ArgumentHelp("The order: \"year desc,title\".", valueName: "odata"))
    var orderby: String?

    @Option(help: ArgumentHelp("How many records at the most.", valueName: "n"))
    var top: Int?

    @Option(help: ArgumentHelp("How many records to leave out first.", valueName: "n"))
    var skip: Int?

    @Option(help: ArgumentHelp("Which properties: \"id,title\".", valueName: "names"))
    var select: String?

    @Flag(help: "Also print how many records match.")
    var count = false

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let query = TableQuery(
            table, filter: try QueryOptions.filter(filter), order: try QueryOptions.order(orderby),
            skip: try QueryOptions.number(skip, "--skip") ?? 0, top: try QueryOptions.number(top, "--top"),
            select: try QueryOptions.select(select), includesCount: true)
        return try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            _ = try session.context.table(table)
            // One state of the store for both, so that they are consistent.
            let (items, total) = try await session.context.store.read { reader in
                (try reader.records(matching: query), try reader.count(matching: query))
            }
            if connection.json { return Outcome(json: ["items": JSON(items), "count": JSON(total)], text: []) }
            let widest = StandardStream.output.isTerminal ? 40 : Int.max
            var text = items.isEmpty ? [] : TextTable(records: items).lines(widest: widest)
            if count { text.append(Plain.count(total, "record")) }
            return Outcome(json: .object, text: text)
        }
    }
}

/// Parses OData texts of the command line as parts of a query, with the option's name in the refusal.
enum QueryOptions {
    static func filter(_ text: String?) throws -> QueryExpression? {
        try text.map { text in try read("--filter") { try QueryExpression(odata: text) } }
    }

    static func order(_ text: String?) throws -> [TableQuery.SortKey] {
        try text.map { text in try read("--orderby") { try TableQuery.order(odata: text) } } ?? []
    }

    static func select(_ text: String?) throws -> [PropertyName] {
        try text.map { text in try read("--select") { try TableQuery.select(odata: text) } } ?? []
    }

    static func number(_ number: Int?, _ option: String) throws -> Int? {
        if let number, number < 0 { throw CommandFailure.usage("\(option) cannot be negative") }
        return number
    }

    private static func read<Part>(_ option: String, _ body: () throws -> Part) throws -> Part {
        do {
            return try body()
        } catch let error as TableQuery.SyntaxError {
            throw CommandFailure(.usage, "invalidQuery", "\(option): \(error)")
        }
    }
}

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
