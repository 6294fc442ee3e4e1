internal import ArgumentParser
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

/// Which changes a command is about.
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

    var filter: QueueFilter {
        QueueFilter(states: Set(state), table: table, recordID: record.map(RecordID.init), tag: tag, group: group)
    }
}

/// One change, and what it was when somebody decided about it.
struct OperationArgument: ParsableArguments {
    @Argument(help: "The operation's id, from sluice queue list.")
    var id: String

    @Option(
        help: ArgumentHelp(
            "Only if the operation still has this revision, from queue show: not if the record was edited since.",
            valueName: "n"))
    var revision: Int?
}

/// What can be named on the command line by one of a few words.
extension RawRepresentable where RawValue == String, Self: CaseIterable {
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    static func named(_ text: String) throws -> Self {
        guard let value = Self(rawValue: text) else {
            throw ValidationError("'\(text)' is not one of \(names)")
        }
        return value
    }
}

/// A command that repairs one operation and says in a line what it did.
protocol QueueRepairCommand: OutcomeCommand {
    var operation: OperationArgument { get }
    var connection: ConnectionOptions { get }

    /// Does it.
    ///
    /// - Returns: what was done, in the past tense.
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
