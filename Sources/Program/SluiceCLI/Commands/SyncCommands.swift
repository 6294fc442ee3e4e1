internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct SyncCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Push what waits, then pull tables incrementally.",
        discussion: """
            Tables are pulled under the name "sync", named queries under their own. Without tables, those of the \
            configuration are pulled.
            """)

    @Argument(help: "The tables.")
    var tables: [String] = []

    @OptionGroup var removals: RemovalOptions
    @OptionGroup var push: PushOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection, push: push)
        let flags = connection.ownFlags + push.flags + removals.flags
        if tables.isEmpty, let outcome = try await DaemonReport.sync(settings, without: flags) { return outcome }
        let queries =
            tables.isEmpty
            ? settings.pulls : tables.map { .init(TableQuery($0), named: ClientSettings.queryName) }
        guard !queries.isEmpty || !settings.tables.isEmpty else {
            throw CommandFailure.usage("no tables: name some, or give them in --config")
        }
        return try await ClientSession.run(settings, usesNetwork: true, asksPlugins: true, makesStore: true) {
            session in
            let context = session.context
            // An invalid name is refused before anything is sent.
            for one in queries { _ = try context.table(one.query.table) }
            let push = try await SyncReport.push(in: context)
            var outcome = Outcome(json: ["push": push.json], text: [SyncReport.text(push)])
            try await SyncReport.add(push, to: &outcome, in: context)
            var pulls = JSON.array
            var last = push.error
            for one in queries {
                let table = one.query.table
                // A failed table does not stop the others, but without a network or a store none would succeed.
                if last?.endsRun ?? false { break }
                do {
                    let pull = try await SyncReport.pull(
                        one.query, named: one.name, allowsMassRemoval: removals.allowMassRemoval,
                        in: context)
                    pulls.append(pull.json(table: table))
                    outcome.text.append(SyncReport.text(pull, table))
                    SyncReport.add(quarantined: pull.quarantined, table, to: &outcome)
                    if let push = pull.push { try await SyncReport.add(push, to: &outcome, in: context) }
                } catch {
                    outcome.add(CommandFailure(error))
                    last = SluiceError(wrapping: error)
                }
            }
            outcome.json["pulls"] = pulls
            try await SyncReport.addHeld(to: &outcome, in: context)
            return outcome
        }
    }
}

struct PushCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Send the changes that wait in the queue.",
        discussion: "What is not sent, for whatever reason, stays in the queue: see sluice queue list.")

    @OptionGroup var push: PushOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection, push: push)
        let flags = connection.ownFlags + push.flags
        if let outcome = try await DaemonReport.sync(settings, without: flags) { return outcome }
        return try await ClientSession.run(settings, usesNetwork: true, asksPlugins: true) { session in
            let result = try await SyncReport.push(in: session.context)
            var outcome = Outcome(json: result.json, text: [SyncReport.text(result)])
            try await SyncReport.add(result, to: &outcome, in: session.context)
            try await SyncReport.addHeld(to: &outcome, in: session.context)
            return outcome
        }
    }
}

struct PullCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull", abstract: "Bring the server's rows into the local store.",
        discussion: """
            With --query the pull is incremental: it brings what has changed since the last pull under that name, \
            deletions included. Without it all rows come. Changes of the table that wait are pushed first.
            """)

    @Argument(help: "The table.")
    var table: String

    @Option(help: ArgumentHelp("The name of an incremental pull.", valueName: "name"))
    var query: String?

    @Option(help: ArgumentHelp("Only rows that match: \"year ge 1990\".", valueName: "odata"))
    var filter: String?

    @OptionGroup var removals: RemovalOptions
    @OptionGroup var push: PushOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let query = TableQuery(table, filter: try QueryOptions.filter(filter))
        let settings = try ClientSettings(connection, push: push)
        return try await ClientSession.run(settings, usesNetwork: true, asksPlugins: true, makesStore: true) {
            session in
            let result = try await SyncReport.pull(
                query, named: self.query, allowsMassRemoval: removals.allowMassRemoval, in: session.context)
            var outcome = Outcome(json: result.json(table: table), text: [SyncReport.text(result, table)])
            SyncReport.add(quarantined: result.quarantined, table, to: &outcome)
            if let push = result.push { try await SyncReport.add(push, to: &outcome, in: session.context) }
            return outcome
        }
    }
}

struct PurgeCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Remove a table's rows from the local store only.",
        discussion: "Refused while changes of the table wait, unless forced. The next pull brings what belongs here.")

    @Argument(help: "The table.")
    var table: String

    @Flag(help: "Give up the changes that wait, too. They are noted in the store's audit.")
    var force = false

    @Option(help: ArgumentHelp("Only the rows of the query that was pulled under this name.", valueName: "name"))
    var query: String?

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try await ClientSession.run(try ClientSettings(connection), usesNetwork: false) { session in
            let removed = try await session.context.purge(TableQuery(table), named: query, force: force)
            return Outcome(
                json: ["table": JSON(table), "removed": JSON(removed)],
                text: ["purge \(table): \(Plain.count(removed, "row")) removed"])
        }
    }
}
