internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

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
                let all = try await queue.count(QueueFilter())
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
