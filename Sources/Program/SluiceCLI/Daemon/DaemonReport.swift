internal import Sluice
internal import SluiceDaemon

/// Formats a daemon's answers.
enum DaemonReport {
    static func status(_ json: JSON) -> [String] {
        let process = json["process"]?.int ?? 0
        var lines = ["daemon: \(json["state"]?.string ?? ""), process \(process), since \(text(json["startedAt"]))"]
        if let refused = json["configuration"]?["refused"], refused != .null {
            lines.append(
                "configuration: refused at \(text(refused["at"])), the one from before serves: \(text(refused["message"]))"
            )
        }
        for endpoint in json["endpoints"]?.elements ?? [] {
            let name = text(endpoint["name"])
            lines.append(
                "\(name.isEmpty ? "" : "\(name): ")\(text(endpoint["endpoint"])) and \(text(endpoint["store"]))")
            if let error = endpoint["error"]?.string { lines.append("  error: \(Plain.line(error))") }
            guard endpoint["queue"] != nil else { continue }
            let phase = text(endpoint["phase"])
            var state = "  \(phase == "needsAttention" ? "needs attention" : phase)"
            if let until = endpoint["waitsUntil"]?.string { state += " until \(Plain.line(until))" }
            if let next = endpoint["lastRun"]?["next"]?.string { state += "; next run \(Plain.line(next))" }
            lines.append(state)
            lines.append("  queue: \(queue(endpoint["queue"]))")
            if let run = endpoint["lastRun"], run != .null { lines.append("  last run: \(words(run))") }
            if let run = endpoint["lastSent"], let count = run["sent"]?.int {
                lines.append("  last sent: \(Plain.count(Int(count), "change")) at \(text(run["startedAt"]))")
            }
            if let plugins = endpoint["plugins"] {
                let names = (plugins["names"]?.elements ?? []).map { text($0) }.joined(separator: ", ")
                lines.append("  plugins: \(names); \(Plain.count(Int(plugins["errors"]?.int ?? 0), "error"))")
            }
        }
        return lines
    }

    private static func queue(_ json: JSON?) -> String {
        let parts = [
            ("pending", "pending"), ("inFlight", "in flight"), ("parked", "parked"), ("dead", "dead"),
        ].compactMap { key, word -> String? in
            guard let count = json?[key]?.int, count > 0 else { return nil }
            return "\(Plain.count(Int(count))) \(word)"
        }
        let others = json?["ofOthers"]?.int ?? 0
        let rest = others > 0 ? ["\(Plain.count(Int(others))) of these of another user"] : []
        return parts.isEmpty ? "nothing waits" : (parts + rest).joined(separator: ", ")
    }

    private static func words(_ run: JSON) -> String {
        let (sent, stored) = (Int(run["sent"]?.int ?? 0), Int(run["stored"]?.int ?? 0))
        let others = Int(run["ofOthers"]?.int ?? 0)
        let rest = others > 0 ? ", \(Plain.count(others, "change")) left for another user to send" : ""
        let done = "\(Plain.count(sent, "change")) sent, \(Plain.count(stored, "row")) stored\(rest)"
        guard let error = run["error"]?.string else { return "\(done), at \(text(run["startedAt"]))" }
        let failed = Int(run["failed"]?.int ?? 0)
        let changes = failed > 0 ? ", \(Plain.count(failed, "change")) not" : ""
        return "failed at \(text(run["startedAt"])): \(Plain.line(error)) (\(done)\(changes))"
    }

    /// Asks the daemon that holds the store to sync: both would wait for each other. Nil if there is none.
    ///
    /// - Parameter flags: the flags that were given to the command and have no effect in the daemon.
    /// - Throws: ``CommandFailure`` for such a flag, or for another server than the daemon's.
    static func sync(_ settings: ClientSettings, without flags: [String]) async throws -> Outcome? {
        try await checkHolder(settings, flags)
        guard let store = settings.store, let (holder, answer) = try await ControlClient.sync(store: store) else {
            return nil
        }
        var outcome = runs(answer)
        outcome.text.insert("the store is held by \(holder.description), which has synced it", at: 0)
        outcome.json["daemon"] = JSON(holder.process)
        return outcome
    }

    private static func checkHolder(_ settings: ClientSettings, _ flags: [String]) async throws {
        guard let store = settings.store, let holder = StoreHold.holder(of: store), let socket = holder.socket else {
            return
        }
        let advice = "change that, or stop the daemon"
        if let flag = flags.first {
            throw CommandFailure.usage(
                "the store is held by \(holder.description): it syncs by its own settings, and \(flag) has no effect; \(advice)"
            )
        }
        guard let wanted = settings.endpoint else { return }
        let status = try await ControlClient(socket: socket).ask("status", method: "GET")
        let endpoint = status["endpoints"]?.elements?.first { $0["name"]?.string == holder.endpoint }
        guard let own = endpoint?["endpoint"]?.string, identity(own) != identity(wanted) else { return }
        throw CommandFailure.usage(
            "the store is held by \(holder.description): it syncs with \(Plain.line(own)), not with \(Plain.line(wanted)); \(advice)"
        )
    }

    private static func identity(_ address: String) -> String { (try? Endpoint(address).identity) ?? address }

    /// Reports requested runs. Their failures end the command as they would without a daemon.
    static func runs(_ json: JSON) -> Outcome {
        var outcome = Outcome(json: json, text: [])
        for run in json["runs"]?.elements ?? [] {
            outcome.text.append("sync: \(words(run))")
            DaemonFailures(run).add(to: &outcome)
        }
        return outcome
    }

    /// Returns the permissions of plugins that a reload has changed.
    static func permissions(_ json: JSON) -> [String] { (json["permissions"]?.elements ?? []).map { text($0) } }

    static func drained(_ json: JSON) -> Outcome {
        let endpoints = json["drained"]?.elements ?? []
        let isEmpty = endpoints.allSatisfy { $0["remaining"]?.int ?? 0 == 0 }
        var outcome = Outcome(
            json: json,
            text: ["the daemon is \(isEmpty ? "drained and " : "")paused; sluice ctl resume lets it go on"])
        for endpoint in endpoints {
            guard let count = endpoint["remaining"]?.int, count > 0 else { continue }
            let reason = endpoint["error"]?.string.map { ": \($0)" } ?? ""
            outcome.add(
                CommandFailure(
                    .attention, "remaining", "\(Plain.count(Int(count), "change")) left in the queue\(reason)"))
        }
        return outcome
    }

    private static func text(_ json: JSON?) -> String { Plain.line(json?.string ?? "") }
}

/// The failures that a daemon reports, in a command's terms.
struct DaemonFailures {
    private let entries: [JSON]

    /// Reads the failures of a run, or of a drained endpoint.
    init(_ run: JSON) { entries = run["failures"]?.elements ?? [] }

    func add(to outcome: inout Outcome) {
        let operations = entries.compactMap { $0["operation"] }
        let status = ExitStatus(
            failures: operations.map {
                let failure = $0["failure"]
                return (failure?["code"]?.string ?? "", failure?["status"]?.int.map { Int(clamping: $0) })
            })
        for entry in entries {
            if let operation = entry["operation"] {
                outcome.add(CommandFailure(operation: operation, status: status))
            } else if let operation = entry["held"] {
                outcome.add(CommandFailure(operation: operation, status: .attention))
            } else {
                outcome.add(CommandFailure(told: entry))
            }
        }
    }
}

extension CommandFailure {
    /// Reads an error that a daemon reports.
    fileprivate init(told json: JSON) {
        let code = json["code"]?.string ?? ""
        let status = json["status"]?.int.map { Int($0) }
        let error = SluiceError.Code(code).map { ExitStatus(SluiceError($0, "", status: status)) }
        self.init(
            error ?? .brokenProtocol, code, json["message"]?.string ?? "", table: json["table"]?.string,
            recordID: json["record"]?.string.map { RecordID($0) }, httpStatus: status)
    }
}
