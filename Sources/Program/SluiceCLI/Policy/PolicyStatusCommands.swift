internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon
internal import SluiceLua
internal import SluicePolicy

struct PolicyStatusCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the version that this device serves with, its trial, and what was refused.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        guard let fleet = settings.plugins?.fleet else {
            throw CommandFailure.usage("this configuration has no policy.url and no policy.table")
        }
        let status = try await Self.asked(settings) ?? Self.kept(fleet)
        return Outcome(json: status, text: Self.lines(status))
    }

    /// Returns the status of the daemon that holds the store; nil if none does.
    private static func asked(_ settings: ClientSettings) async throws -> JSON? {
        guard let store = settings.store, let holder = StoreHold.holder(of: store), let socket = holder.socket else {
            return nil
        }
        let status = try await ControlClient(socket: socket).ask("status", method: "GET", [], limit: .seconds(30))
        let endpoints = status["endpoints"]?.elements ?? []
        return (endpoints.first { $0["name"]?.string ?? "" == holder.endpoint } ?? endpoints.first)?["policy"]
    }

    private static func kept(_ fleet: PolicySettings) throws -> JSON {
        let folder = try PolicyFolder(fleet.folder)
        return PolicyReport.json(try folder.state(), try fleet.deviceName(in: folder))
    }

    private static func lines(_ status: JSON) -> [String] {
        func text(_ name: PropertyName) -> String { status[name].map { $0.string ?? $0.description } ?? "" }
        var lines = [
            "device \(text("device"))",
            status["serving"]?.int == nil
                ? "serves with the installed policy" : "serves with \(text("name")) \(text("serving"))",
        ]
        if let since = status["servingSince"]?.string { lines.append("since \(since)") }
        switch text("stage") {
        case "trial": lines.append("version \(text("trial")) is on trial: \(text("trialFigures"))")
        case "probation": lines.append("on probation: \(text("probationFigures"))")
        default: break
        }
        for (version, reason) in status["withdrawn"]?.members ?? [] {
            lines.append("withdrawn: version \(version.text): \(reason.string ?? "")")
        }
        if let reason = status["refused"]?.string { lines.append("refused: \(reason)") }
        if let reason = status["unreachable"]?.string { lines.append("not fetched: \(reason)") }
        for event in (status["events"]?.elements ?? []).prefix(10) {
            let version = event["version"]?.int.map { " \($0)" } ?? ""
            let reason = event["reason"]?.string.map { ": \($0)" } ?? ""
            lines.append("\(event["at"]?.string ?? "")  \(event["event"]?.string ?? "")\(version)\(reason)")
        }
        return lines.map { Plain.line($0) }
    }
}

struct PolicyWhyCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Tell which version of the policy decided what of an operation.")

    @Argument(help: "An operation's id, from sluice queue list or the audit; or a record, as TABLE/ID.")
    var operation: String

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        let id = operation
        let place = try await ClientSession.run(settings, usesNetwork: false) { session in
            if let found = try await session.context.queue.operations().first(where: { $0.id == id }) {
                return (found.table, found.recordID)
            }
            let audit = try await session.context.queue.audit()
            let parts = id.split(separator: "/", maxSplits: 1)
            guard let entry = audit.first(where: { $0.operation.id == id }) else {
                // A change that was sent has left the queue; the decisions about its record stay.
                if parts.count == 2 { return (String(parts[0]), RecordID(String(parts[1]))) }
                throw CommandFailure.usage(
                    "nothing is known of the operation \(Plain.line(id)); one that was sent is found by its record, as TABLE/ID"
                )
            }
            return (entry.operation.table, entry.operation.recordID)
        }
        let decisions = try RecordStory.writtenDecisions(settings).filter {
            $0.table == place.0 && $0.recordID == place.1 && !$0.isShadow
        }
        let lines = decisions.map { decision in
            let version = decision.release.map { "release \($0)" } ?? "the installed policy"
            let reason = decision.reason ?? decision.failure?.message
            return Plain.line(
                "\(decision.at)  \(version), \(decision.plugin) \(decision.version), \(decision.hook.rawValue): "
                    + "\(decision.decision)\(reason.map { ": \($0)" } ?? "")")
        }
        return Outcome(
            json: [
                "operation": JSON(id), "table": JSON(place.0), "record": JSON(place.1),
                "decisions": JSON(decisions.map(\.json)),
            ],
            text: lines.isEmpty ? ["no plugin has decided about it"] : lines)
    }
}
