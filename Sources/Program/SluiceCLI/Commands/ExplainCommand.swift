internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct ExplainCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Tell one record's story: its copies, its changes, and who decided what.",
        discussion: """
            Decisions of plugins are those of the daemon that holds the store, and those in the policy's file of \
            decisions. The server's copy is the last one seen; --ask asks the server.
            """)

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The record's id.")
    var id: String

    @Flag(help: "Ask the server for the record as it is now.")
    var ask = false

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        var story = try await self.story(settings)
        if ask { story["server"] = try await asked(settings) ?? .null }
        guard ["local", "base", "server"].contains(where: { story[$0] != .null }) || story["events"]?.count ?? 0 > 0
        else {
            throw CommandFailure(
                .usage, "recordMissing", "nothing is known of such a record", table: table, recordID: RecordID(id))
        }
        return Outcome(json: story, text: text(story))
    }

    /// Reads from the daemon, if one holds the store: it knows its plugins' decisions.
    private func story(_ settings: ClientSettings) async throws -> JSON {
        let (table, id) = (table, id)
        if let store = settings.store, let holder = StoreHold.holder(of: store), let socket = holder.socket {
            return try await ControlClient(socket: socket).ask(
                "explain", method: "GET", [("endpoint", holder.endpoint), ("table", table), ("id", id)],
                limit: .seconds(30))
        }
        return try await ClientSession.run(settings, usesNetwork: false) { session in
            try await RecordStory.json(
                of: RecordID(id), in: table, session.context,
                decisions: try RecordStory.writtenDecisions(settings))
        }
    }

    /// Returns the server's record; nil if it has none.
    private func asked(_ settings: ClientSettings) async throws -> JSON? {
        let (table, id) = (table, id)
        return try await ClientSession.run(settings, usesNetwork: true, asksPlugins: true) { session in
            do {
                return try await session.context.client?.table(table).lookup(id: id)
            } catch let error as SluiceError where error.code == .notFound {
                return nil
            }
        }
    }

    private func text(_ story: JSON) -> [String] {
        func copy(_ name: PropertyName) -> JSON? { story[name].flatMap { $0 == .null ? nil : $0 } }
        let copies = QueueReport.table(local: copy("local"), base: copy("base"), server: copy("server"))
        let widest = StandardStream.output.isTerminal ? 32 : Int.max
        let events = (story["events"]?.elements ?? []).map { event in
            Plain.line("\(event["at"]?.string ?? "")  \(event["what"]?.string ?? ""): \(event["text"]?.string ?? "")")
        }
        return copies.lines(widest: widest) + [""] + (events.isEmpty ? ["nothing waits, nothing was decided"] : events)
    }
}
