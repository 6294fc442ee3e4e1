internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct PullCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull", abstract: "Bring the server's rows into the local store.",
        discussion: """
            With --query the pull is incremental: it brings what has changed since the last pull under that name, \
            deletions included. Without it all rows come. Changes of the table that wait are pushed first.
            """)

    @Argument(help: "The table.")
    var table: String

    @Option(help: ArgumentHelp("The name of an incremental pull.", valueName: "name"))
    var query: String?

    @Option(help: ArgumentHelp("Only rows that match: \"year ge 1990\".", valueName: "odata"))
    var filter: String?

    @OptionGroup var removals: RemovalOptions
    @OptionGroup var push: PushOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let query = TableQuery(table, filter: try QueryOptions.filter(filter))
        let settings = try ClientSettings(connection, push: push)
        return try await ClientSession.run(settings, usesNetwork: true, asksPlugins: true, makesStore: true) {
            session in
            let result = try await SyncReport.pull(
                query, named: self.query, allowsMassRemoval: removals.allowMassRemoval, in: session.context)
            var outcome = Outcome(json: result.json(table: table), text: [SyncReport.text(result, table)])
            SyncReport.add(result, table, to: &outcome)
            if let push = result.push { try await SyncReport.add(push, to: &outcome, in: session.context) }
            return outcome
        }
    }
}
