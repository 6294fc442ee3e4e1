internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct UndeleteCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "undelete", abstract: "Bring a deleted record back.",
        discussion: """
            A delete that was never sent is taken back at once. Otherwise the next push asks the server, and the record \
            appears with its answer.
            """)

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The record's id.")
    var id: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false, asksPlugins: true) { session in
            let records = try session.context.table(table)
            try await records.undelete(id: id)
            let isBack = try await records.lookup(id: id) != nil
            return Outcome(
                json: ["table": JSON(table), "undeleted": JSON(id), "present": JSON(isBack)],
                text: [isBack ? "\(Plain.line(id)) is back" : "the next push asks the server for \(Plain.line(id))"])
        }
    }
}
