internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct PurgeCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Remove a table's rows from the local store only.",
        discussion: "Refused while changes of the table wait, unless forced. The next pull brings what belongs here.")

    @Argument(help: "The table.")
    var table: String

    @Flag(help: "Give up the changes that wait, too. They are noted in the store's audit.")
    var force = false

    @Option(help: ArgumentHelp("Only the rows of the query that was pulled under this name.", valueName: "name"))
    var query: String?

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let removed = try await session.context.purge(TableQuery(table), named: query, force: force)
            return Outcome(
                json: ["table": JSON(table), "removed": JSON(removed)],
                text: ["purge \(table): \(Plain.count(removed, "row")) removed"])
        }
    }
}
