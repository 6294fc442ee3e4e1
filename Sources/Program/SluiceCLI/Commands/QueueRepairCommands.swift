internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct QueueRetryCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Have the next push try a change again that was put aside, or all of them.")

    @Argument(help: "The operation's id, from sluice queue list.")
    var id: String?

    @Flag(help: "All parked and dead changes, or those that the options take.")
    var all = false

    @OptionGroup(title: "Which changes, with --all") var which: QueueFilterOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        guard all != (id != nil) else { throw CommandFailure.usage("give an operation's id, or --all") }
        return try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            if let id {
                try await session.context.queue.retry(id)
                return Outcome(json: ["retry": JSON(id)], text: ["the next push tries \(Plain.line(id)) again"])
            }
            let count = try await session.context.queue.retryAll(which.filter)
            return Outcome(
                json: ["retried": JSON(count)], text: ["the next push tries \(Plain.count(count, "change")) again"])
        }
    }
}

struct QueueTakeCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "take", abstract: "Take changes over that another user made, or the same one by another name.",
        discussion: "The next push sends them in the name of this session's user. Groups are taken over whole.")

    @OptionGroup(title: "Which changes; all without one") var which: QueueFilterOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let count = try await session.context.queue.takeOver(which.filter)
            return Outcome(json: ["taken": JSON(count)], text: ["took \(Plain.count(count, "change")) over"])
        }
    }
}

struct QueueDiscardCommand: QueueRepairCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Give a change up and restore the record as the server last had it.",
        discussion: "Of a group all is given up. What is given up is kept: see queue audit.")

    @OptionGroup var operation: OperationArgument

    @Flag(help: "It was exported and is sent from another store: a row that it makes is not to be deleted.")
    var moved = false

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func repair(_ queue: SyncQueue) async throws -> String {
        try await queue.discard(operation.id, revision: operation.revision, goesOnElsewhere: moved)
        return "discarded"
    }
}

struct QueueResolveCommand: QueueRepairCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Decide a conflict that is held.",
        discussion: """
            server: the server's record stands. client: what was changed here is sent on top of the server's record. \
            merge: the record given after it, which is whole: null takes a property away; what only one side changed, and \
            the record leaves as it was before, stays changed. replace: that record exactly. delete: it is deleted on \
            both sides.
            """)

    enum Side: String, ExpressibleByArgument, CaseIterable { case server, client, merge, replace, delete }

    @OptionGroup var operation: OperationArgument

    @Argument(help: "What is to stand.")
    var side: Side

    @Argument(help: "For merge and replace: the record as a JSON object, or - to read it from standard input.")
    var json: String?

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func repair(_ queue: SyncQueue) async throws -> String {
        guard (side == .merge || side == .replace) == (json != nil) else {
            throw CommandFailure.usage("a record belongs to merge and replace, and to them alone")
        }
        let decision: ConflictDecision =
            switch side {
            case .server: .server
            case .client: .client
            case .delete: .delete
            case .merge: .merge(try await queue.whole(json ?? "", in: operation))
            case .replace: .replace(try await queue.whole(json ?? "", in: operation))
            }
        try await queue.resolve(operation.id, decision, revision: operation.revision)
        return "decided for \(side.rawValue):"
    }
}

struct QueueEditCommand: QueueRepairCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Give a change that waits another record to send.")

    @OptionGroup var operation: OperationArgument

    @Argument(
        help: "The whole record as a JSON object (null takes a property away), or - to read it from standard input.")
    var json: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func repair(_ queue: SyncQueue) async throws -> String {
        let record = try await queue.whole(json, in: operation)
        try await queue.edit(operation.id, to: record, revision: operation.revision)
        return "edited"
    }
}

struct QueueChangeKindCommand: QueueRepairCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-kind", abstract: "Make a change one of another kind.",
        discussion: """
            For a server whose record is not what it was: an update becomes an insert where the server's record is gone, \
            an insert an update where it is there, a delete an update that takes it back.
            """)

    @OptionGroup var operation: OperationArgument

    @Argument(
        help: "The new kind: \(TableOperation.Kind.names).", transform: TableOperation.Kind.named)
    var kind: TableOperation.Kind

    @Argument(help: "The whole record as a JSON object, - to read it from standard input; without it, as it is here.")
    var json: String?

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func repair(_ queue: SyncQueue) async throws -> String {
        let record = try json.map { try RecordArgument.read($0, table: "queue") }
        try await queue.changeKind(operation.id, to: kind, record: record, revision: operation.revision)
        return "changed to \(kind.rawValue):"
    }
}

struct QueueUndoCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back all that waits for a record: it is again as the server last had it.",
        discussion: "A record that was made here is gone. What is taken back is kept: see queue audit.")

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The record's id.")
    var id: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let record = try await session.context.queue.undo(id, in: table)
            let now = record == nil ? "it is not here any more" : "it is as the server last had it"
            return Outcome(
                json: ["table": JSON(table), "id": JSON(id), "record": record ?? .null],
                text: ["took back what waited for \(Plain.line(id)): \(now)"])
        }
    }
}

extension SyncQueue {
    /// Reads a record that replaces an operation's.
    ///
    /// - Throws: a usage failure for a record that lacks properties: they would be lost by an oversight.
    fileprivate func whole(_ json: String, in operation: OperationArgument) async throws -> JSON {
        let record = try RecordArgument.read(json, table: "queue")
        let missing = try await properties(of: operation.id).filter { record[$0] == nil }
        guard missing.isEmpty else {
            let names = missing.prefix(8).map { Plain.line($0.text) }.joined(separator: ", ")
            throw CommandFailure.usage(
                "the record leaves out \(names)\(missing.count > 8 ? " …" : ""), which it has now: give the whole record, "
                    + "with null for what is to go")
        }
        return record
    }
}
