internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct PushCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Send the changes that wait in the queue.",
        discussion: "What is not sent, for whatever reason, stays in the queue: see sluice queue list.")

    @OptionGroup var push: PushOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection, push: push)
        if let outcome = try await DaemonReport.sync(settings) { return outcome }
        return try await ClientSession.run(settings, usesNetwork: true, asksPlugins: true) { session in
            let result = try await SyncReport.push(in: session.context)
            var outcome = Outcome(json: result.json, text: [SyncReport.text(result)])
            try await SyncReport.add(result, to: &outcome, in: session.context)
            try await SyncReport.addHeld(to: &outcome, in: session.context)
            return outcome
        }
    }
}
