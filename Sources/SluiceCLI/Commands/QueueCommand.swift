internal import ArgumentParser
internal import Sluice

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "Look at the changes that wait, and repair them.",
        subcommands: [QueueListCommand.self, QueueShowCommand.self, QueueRetryCommand.self, QueueDiscardCommand.self])
}

struct QueueListCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the changes that wait, in the order in which they will be sent.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let operations = try await session.context.queue.operations()
            let widest = StandardStream.output.isTerminal ? 48 : Int.max
            return Outcome(
                json: ["operations": JSON(operations.map { QueueReport.json($0) })],
                text: operations.isEmpty ? ["nothing waits"] : QueueReport.table(operations).lines(widest: widest))
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
            var json = QueueReport.json(operation)
            json["local"] = copies.local ?? .null
            json["base"] = copies.base ?? .null
            json["mirror"] = copies.mirror ?? .null
            json["server"] = server ?? .null
            let heading =
                "\(operation.kind.rawValue) of \(operation.table) \(Plain.line(operation.recordID)): "
                + "\(operation.state.rawValue), sent \(Plain.count(operation.attempts, "time"))"
            let reason = operation.failure.map { ["reason: \(Plain.line($0.message))"] } ?? []
            let widest = StandardStream.output.isTerminal ? 32 : Int.max
            return Outcome(
                json: json,
                text: [heading] + reason + QueueReport.table(copies, server: server).lines(widest: widest))
        }
    }
}

struct QueueRetryCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Have the next push try a change again that was put aside.")

    @Argument(help: "The operation's id, from sluice queue list.")
    var id: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            try await session.context.queue.retry(id)
            return Outcome(json: ["retry": JSON(id)], text: ["the next push tries \(Plain.line(id)) again"])
        }
    }
}

struct QueueDiscardCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Give a change up and restore the record as the server last had it.",
        discussion: "What is given up is kept in the store's audit, the table sluice_audit.")

    @Argument(help: "The operation's id, from sluice queue list.")
    var id: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            try await session.context.queue.discard(id)
            return Outcome(json: ["discarded": JSON(id)], text: ["discarded \(Plain.line(id))"])
        }
    }
}
