internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct SyncCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Push what waits, then pull tables incrementally.",
        discussion: "The pulls go under the name \"sync\". Without tables, those of the configuration are pulled.")

    @Argument(help: "The tables.")
    var tables: [String] = []

    @OptionGroup var removals: RemovalOptions
    @OptionGroup var push: PushOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection, push: push)
        if tables.isEmpty, let outcome = try await DaemonReport.sync(settings) { return outcome }
        let shared = settings.tables.map(\.name).filter { !settings.localOnly.tables.contains($0) }
        let tables = tables.isEmpty ? shared : tables
        guard !tables.isEmpty || !settings.tables.isEmpty else {
            throw CommandFailure.usage("no tables: name some, or give them in --config")
        }
        return try await ClientSession.run(settings, usesNetwork: true, asksPlugins: true, makesStore: true) {
            session in
            let context = session.context
            // An invalid name is refused before anything is sent.
            for table in tables { _ = try context.table(table) }
            let push = try await SyncReport.push(in: context)
            var outcome = Outcome(json: ["push": push.json], text: [SyncReport.text(push)])
            try await SyncReport.add(push, to: &outcome, in: context)
            var pulls = JSON.array
            var last = push.error
            for table in tables {
                // A failed table does not stop the others, but without a network or a store none would succeed.
                if last?.endsRun ?? false { break }
                do {
                    let pull = try await SyncReport.pull(
                        TableQuery(table), named: ClientSettings.queryName,
                        allowsMassRemoval: removals.allowMassRemoval,
                        in: context)
                    pulls.append(pull.json(table: table))
                    outcome.text.append(SyncReport.text(pull, table))
                    SyncReport.add(pull, table, to: &outcome)
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
