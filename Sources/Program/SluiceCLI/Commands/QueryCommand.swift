internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

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
