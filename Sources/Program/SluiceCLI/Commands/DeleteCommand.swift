internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct DeleteCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a record locally; the next push deletes it on the server.")

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The record's id.")
    var id: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false, asksPlugins: true) { session in
            try await session.context.table(table).delete(id: id)
            return Outcome(json: ["table": JSON(table), "deleted": JSON(id)], text: ["deleted \(Plain.line(id))"])
        }
    }
}
