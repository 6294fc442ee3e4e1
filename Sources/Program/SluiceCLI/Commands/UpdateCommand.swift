internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct UpdateCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change properties of a record locally; the next push sends them.",
        discussion: "Properties that the JSON does not name stay as they are.")

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The record's id.")
    var id: String

    @Argument(help: "The new values as a JSON object, or - to read it from standard input.")
    var json: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        var changes = try RecordArgument.read(json, table: table)
        if let given = changes["id"], given != JSON(id) {
            throw CommandFailure(
                .usage, "invalidRecord", "the JSON has another id; a record's id cannot be changed", table: table,
                recordID: RecordID(id))
        }
        changes["id"] = JSON(id)
        let content = changes
        return try await ClientSession.run(try ClientSettings(connection), usesNetwork: false, asksPlugins: true) {
            session in
            try await RecordArgument.check(content, in: table, session.context)
            let stored = try await session.context.table(table).update(content)
            return Outcome(
                json: stored,
                text: ["updated \(Plain.line(id))"]
                    + RecordArgument.notes(content, stored: stored, session.settings.dialect))
        }
    }
}
