internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "Look at the changes that wait, and repair them.",
        subcommands: [
            QueueListCommand.self, QueueShowCommand.self, QueueRetryCommand.self, QueueDiscardCommand.self,
            QueueResolveCommand.self, QueueEditCommand.self, QueueChangeKindCommand.self, QueueUndoCommand.self,
            QueueTakeCommand.self,
            QueueExportCommand.self, QueueImportCommand.self, QueueAuditCommand.self,
        ])
}

/// The options that select the changes for a command.
struct QueueFilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only those in this state (\(TableOperation.State.names)); may be given more than once.",
            valueName: "state"),
        transform: TableOperation.State.named)
    var state: [TableOperation.State] = []

    @Option(help: "Only those of this table.")
    var table: String?

    @Option(help: ArgumentHelp("Only those on this record.", valueName: "id"))
    var record: String?

    @Option(help: "Only those with this tag.")
    var tag: String?

    @Option(help: "Only those of this group.")
    var group: String?

    var filter: TableOperation.Filter {
        TableOperation.Filter(
            states: Set(state), table: table, recordID: record.map(RecordID.init), tag: tag, group: group)
    }
}

/// A single change, with the revision that a decision was based on.
struct OperationArgument: ParsableArguments {
    @Argument(help: "The operation's id, from sluice queue list.")
    var id: String

    @Option(
        help: ArgumentHelp(
            "Only if the operation still has this revision, from queue show: not if the record was edited since.",
            valueName: "n"))
    var revision: Int?
}

/// Types that are named on the command line by one of a few values.
extension RawRepresentable where RawValue == String, Self: CaseIterable {
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    static func named(_ text: String) throws -> Self {
        guard let value = Self(rawValue: text) else {
            throw ValidationError("'\(text)' is not one of \(names)")
        }
        return value
    }
}

/// A command that repairs one operation and reports the repair in one line.
protocol QueueRepairCommand: OutcomeCommand {
    var operation: OperationArgument { get }
    var connection: ConnectionOptions { get }

    /// Carries out the repair.
    ///
    /// - Returns: the repair, in the past tense.
    func repair(_ queue: SyncQueue) async throws -> String
}

extension QueueRepairCommand {
    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let done = try await repair(session.context.queue)
            return Outcome(
                json: ["operation": JSON(operation.id), "done": JSON(done)],
                text: ["\(done) \(Plain.line(operation.id))"])
        }
    }
}

struct QueueExportCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print the changes that wait, for import into another store.",
        discussion: """
            One JSON document a line, with all that another store needs to send them: their records, what these were \
            made on, tags and groups. It holds no credentials. The changes stay in the queue.
            """)

    @OptionGroup(title: "Which changes") var which: QueueFilterOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let lines = try await session.context.queue.export(which.filter).split(separator: "\n").map(String.init)
            return Outcome(json: ["operations": JSON(try lines.map { try JSON(parsing: Array($0.utf8)) })], text: lines)
        }
    }
}

struct QueueImportCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Put exported changes at the end of the queue: all of them, or none.",
        discussion: "Changes that are in the queue or were imported before are skipped.")

    @Argument(help: "The file that queue export printed, or - for standard input.")
    var file: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let text = try read()
        let settings = try ClientSettings(connection)
        return try await ClientSession.run(settings, usesNetwork: false, makesStore: true) { session in
            let result = try await session.context.queue.import(text)
            return Outcome(
                json: ["imported": JSON(result.imported), "skipped": JSON(result.skipped)],
                text: ["imported \(Plain.count(result.imported, "change")), skipped \(result.skipped)"])
        }
    }

    private func read() throws -> String {
        guard let text = String(validating: try InputArgument.read(file), as: UTF8.self) else {
            throw CommandFailure(.usage, "invalidJSON", "the export is not UTF-8")
        }
        return text
    }
}

struct QueueListCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the changes that wait, in the order in which they will be sent.",
        discussion: "A long queue is listed page by page: --skip goes on.")

    @OptionGroup(title: "Which changes") var which: QueueFilterOptions

    @Option(help: ArgumentHelp("List so many changes at the most.", valueName: "n"))
    var top = 1000

    @Option(help: ArgumentHelp("Leave out the first ones.", valueName: "n"))
    var skip = 0

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func validate() throws {
        guard top > 0, skip >= 0 else { throw ValidationError("--top is 1 or more, --skip is 0 or more") }
    }

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let queue = session.context.queue
            let operations = try await queue.operations(which.filter, skip: skip, top: top)
            let count = try await queue.count(which.filter)
            let end = skip + operations.count
            let tables = try await TableStatus.all(in: session, try await session.context.status().cursors)
            let json: JSON = [
                "operations": JSON(operations.map(\.json)), "count": JSON(count),
                "next": end < count ? JSON(end) : .null, "tables": JSON(tables.map(\.json)),
            ]
            let widest = StandardStream.output.isTerminal ? 48 : Int.max
            var text = operations.isEmpty ? [] : QueueReport.table(operations).lines(widest: widest)
            if count == 0 {
                let all = try await queue.count(TableOperation.Filter())
                text.append(all == 0 ? "nothing waits" : "none of \(Plain.count(all, "change")) is like that")
            }
            if end < count {
                text.append("\(Plain.count(end)) of \(Plain.count(count, "change")): go on with --skip \(end)")
            }
            return Outcome(json: json, text: text + tables.filter { !$0.isSettled }.map(\.text))
        }
    }
}

struct QueueShowCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one change that waits, with the copies of its record.")

    @Argument(help: "The operation's id, from sluice queue list.")
    var id: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let queue = session.context.queue
            guard let operation = try await queue.operation(id) else {
                throw CommandFailure.usage("there is no operation \(id) in the queue")
            }
            let copies = try await queue.copies(of: operation)
            let server = operation.failure?.serverRecord
            var json = operation.json
            json["body"] = try await queue.body(of: operation) ?? .null
            json["local"] = copies.local ?? .null
            json["base"] = copies.base ?? .null
            json["mirror"] = copies.mirror ?? .null
            json["server"] = server ?? .null
            let heading =
                "\(operation.kind.rawValue) of \(operation.table) \(Plain.line(operation.recordID.text)), "
                + "revision \(operation.revision): \(operation.state.rawValue), "
                + "sent \(Plain.count(operation.attempts, "time"))"
            let reason = operation.failure.map { ["reason: \(Plain.line($0.message))"] } ?? []
            let time = operation.notBefore.map { ["not before: \($0)"] } ?? []
            let widest = StandardStream.output.isTerminal ? 32 : Int.max
            return Outcome(
                json: json,
                text: [heading] + reason + time + QueueReport.table(copies, server: server).lines(widest: widest))
        }
    }
}

struct QueueAuditCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "List what was given up or changed in the queue on purpose, the oldest first.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let entries = try await session.context.queue.audit()
            let widest = StandardStream.output.isTerminal ? 48 : Int.max
            return Outcome(
                json: ["entries": JSON(entries.map { QueueReport.json($0) })],
                text: entries.isEmpty ? ["nothing was given up"] : QueueReport.table(entries).lines(widest: widest))
        }
    }
}
