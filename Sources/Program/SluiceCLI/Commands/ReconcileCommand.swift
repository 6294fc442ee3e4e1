internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct ReconcileCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Compare a pulled query with the server, row by row, and mend what differs.",
        discussion: """
            Finds what no incremental pull can see: rows that the server has removed without a trace, and rows that \
            left the query. Rows with changes that wait are left alone. A server with digests is asked for little; of \
            another all ids and versions are listed.
            """)

    @Argument(help: "The table.")
    var table: String

    @Option(help: ArgumentHelp("The name of the incremental pull.", valueName: "name"))
    var query: String = ClientSettings.queryName

    @Option(help: ArgumentHelp("The filter with which it was pulled.", valueName: "odata"))
    var filter: String?

    @OptionGroup var removals: RemovalOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let query = TableQuery(table, filter: try QueryOptions.filter(filter))
        return try await ClientSession.run(try ClientSettings(connection), usesNetwork: true, asksPlugins: true) {
            session in
            let result = try await session.context.reconcile(
                query, named: self.query, allowsMassRemoval: removals.allowMassRemoval)
            return Outcome(json: result.json(table: table), text: [SyncReport.text(result, table)])
        }
    }
}

/// The option to let a pull remove more rows than by default.
struct RemovalOptions: ParsableArguments {
    @Flag(help: "Remove rows even if they are most of the table's: the server meant it.")
    var allowMassRemoval = false
}
