internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct InsertCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "insert", abstract: "Add a record locally; the next push sends it.")

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The record as a JSON object, or - to read it from standard input. One without an id gets one.")
    var json: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let record = try RecordArgument.read(json, table: table)
        return try await ClientSession.run(
            try ClientSettings(connection), usesNetwork: false, asksPlugins: true, makesStore: true
        ) {
            session in
            try await RecordArgument.check(record, in: table, session.context)
            let stored = try await session.context.table(table).insert(record)
            return Outcome(
                json: stored,
                text: ["inserted \(TextTable.cell(stored["id"]))"]
                    + RecordArgument.notes(record, stored: stored, session.settings.dialect))
        }
    }
}

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
