internal import Foundation
internal import Sluice
internal import SluiceLua

/// Tells the main story step by step: pull, work offline, push, decide a conflict, pull, compare.
struct DemoRun {
    let rows: Int
    let folder: DemoFolder
    let narrator: Narrator
    let sqlite: SQLiteProgram
    /// The plugins that take part; if they decide the conflict, the handler in Swift does not.
    let plugins: DemoPlugins?
    /// Whether the devices' stores are encrypted.
    let isEncrypted: Bool

    /// The file of the plugins' decisions, in a folder that is kept.
    private static let decisionsFile = "decisions.jsonl"

    func run() async throws -> DemoFacts {
        let start = ContinuousClock.now
        narrator.say("Sluice: \(Plain.count(rows)) movies, one server, two devices, and a network that fails.\n")
        var backend = try await DemoBackend(rows: rows, folder: folder)
        do {
            narrator.step("The server starts on \(backend.endpoint) with \(Plain.count(rows)) movies.")
            var devices: [DemoDevice] = []
            for name in ["anna", "ben"] {
                devices.append(
                    try await DemoDevice(
                        name, folder: folder, endpoint: try Endpoint(backend.endpoint), plugins: plugins,
                        isEncrypted: isEncrypted))
            }
            var facts = try await tell(&backend, devices)
            try await backend.close()
            tell(facts.comparison)
            if let plugins {
                facts.plugins = await plugins.summary(of: devices)
                tell(facts.plugins)
                if folder.isKept { try await plugins.write(devices, to: folder.file(Self.decisionsFile)) }
            }
            facts.seconds = (ContinuousClock.now - start).seconds
            close(facts)
            return facts
        } catch {
            try? await backend.close()
            throw error
        }
    }

    private func tell(_ backend: inout DemoBackend, _ devices: [DemoDevice]) async throws -> DemoFacts {
        narrator.step("Both devices pull them, each into a SQLite store of its own.")
        var pulled: [(String, Int)] = []
        for device in devices {
            let start = ContinuousClock.now
            let result = try await device.pull(total: rows)
            pulled.append((device.name, result.stored))
            narrator.detail("\(pad(device.name))\(Plain.count(result.stored, "row")) in \(since(start))")
            tellNotes(device)
        }

        narrator.step("The network goes away: the server's listener is closed.")
        try await backend.disconnect()
        narrator.step("Both go on working. Nothing waits for the network.")
        var ledger = try await DemoEdits(narrator: narrator).make(on: devices)
        for device in devices { tellNotes(device) }
        var offline: [(String, String, Int)] = []
        for device in devices {
            let result = try await device.context.push()
            offline.append((device.name, result.end.description, try await device.waiting()))
            let reason = result.error.map(Self.reason) ?? "unexpectedly, it went through"
            narrator.bad("\(pad(device.name))tries to push: \(reason)")
            narrator.detail("\(pad(""))\(Plain.count(result.remaining, "change")) left in its store; nothing is lost")
            tellNotes(device)
        }

        narrator.step("The network returns, on the same port. Both push.")
        try await backend.reconnect()
        for device in devices { await askSchedule(device) }
        var pushed: [(String, Int, Int, Int)] = []
        for device in devices {
            let result = try await device.context.push()
            if let error = result.error { throw error }
            pushed.append((device.name, result.applied, result.conflicts, result.remaining))
            for ruling in device.handler.rulings { tell(ruling, device) }
            for held in result.failures {
                let reason = Plain.line(held.failure?.message ?? "")
                narrator.bad("\(pad(device.name))\(held.recordID) stays in the queue: \(reason)")
            }
            narrator.detail(
                "\(pad(device.name))\(Plain.count(result.applied, "change")) sent, \(Plain.count(result.remaining)) left in the queue"
            )
            tellNotes(device)
        }

        narrator.step("Both pull what the other one did.")
        for device in devices {
            let result = try await device.pull()
            narrator.detail("\(pad(device.name))\(result.counts)")
            tellNotes(device)
        }
        for device in devices { try await device.close() }
        let encryption = try search(devices)
        let comparison = try await compare(backend, devices, &ledger)
        return DemoFacts(
            rows: rows, endpoint: backend.endpoint, pulled: pulled, offline: offline, pushed: pushed,
            rulings: devices.flatMap(\.handler.rulings), comparison: comparison, seconds: 0,
            folder: folder.isKept ? folder.path : nil,
            encryption: encryption)
    }

    /// Returns the error in brief.
    private static func reason(_ error: SluiceError) -> String {
        let isRefused = "\(error)".contains("refused")
        return Plain.line(error.message) + (isRefused ? ": connection refused" : "")
    }

    private func tell(_ ruling: DemoHandler.Ruling, _ device: DemoDevice) {
        narrator.bad("\(pad(device.name))conflict (\(ruling.status)) on \(ruling.recordID): \(Self.words(of: ruling))")
        let table = TextTable(
            head: ["field", "before", "server", device.name, "decided"],
            rows: ruling.fields.map { field in
                [field.name.text] + [field.base, field.server, field.client].map(TextTable.cell)
                    + [ruling.verdict ?? Self.verdict(field, device.name)]
            })
        for line in table.lines() { narrator.detail(line) }
    }

    /// Names the deciding handler, and those that passed the conflict on.
    private static func words(of ruling: DemoHandler.Ruling) -> String {
        let passed = ruling.passed.map { "\(Plain.line($0)); " } ?? ""
        guard let verdict = ruling.verdict else { return "\(passed)\(ruling.judge) decides, field by field" }
        return "\(passed)\(ruling.judge) answers \(verdict)" + (ruling.reason.map { ": \(Plain.line($0))" } ?? "")
    }

    private static func verdict(_ field: DemoHandler.Field, _ device: String) -> String {
        switch field.winner {
        case .client: "\(device)'s (\(field.reason))"
        case .server: "server's (\(field.reason))"
        case nil: "\(TextTable.cell(field.decided)) (\(field.reason))"
        }
    }

    private func compare(
        _ backend: DemoBackend, _ devices: [DemoDevice], _ ledger: inout DemoLedger
    ) async throws -> DemoComparison {
        narrator.step("The three copies are compared: the stores by the sqlite3 program, the server by plain HTTP.")
        let rulings = devices.flatMap(\.handler.rulings).sorted { $0.at < $1.at }
        for ruling in rulings { ledger.follow(ruling) }
        let apart = devices.reduce(into: Set<RecordID>()) { $0.formUnion($1.notes.apart) }
        let expected = ledger.expected(of: rows, apart: apart)
        let bar = ProgressBar("compare", total: expected)
        defer {
            bar.finish()
            folder.removePassing()
        }
        let encryption = DemoEncryption(folder: folder)
        var sources: [DemoRows] = []
        for device in devices { sources.append(.file(try await encryption.plainCopy(of: device), sqlite)) }
        let comparison = try await DemoComparison(
            sources + [.server(backend.endpoint)], expected: expected, apart: apart, bar: bar)
        try encryption.keepKeys(of: devices)
        return comparison
    }

    /// Searches the files of encrypted stores for texts of the records.
    private func search(_ devices: [DemoDevice]) throws -> DemoEncryption.Facts? {
        guard isEncrypted else { return nil }
        narrator.step(
            "The stores are encrypted, each with a key of its own. Their files are searched for what is in them.")
        let words = ["movies", "title", "rating", "sluice_operations", "id-009", "PG-13"]
        let facts = try DemoEncryption(folder: folder).search(devices, for: words)
        let text =
            "\(Plain.count(words.count)) words in \(Plain.count(facts.files, "file")) of "
            + "\(Plain.count(facts.bytes, "byte")): \(facts.found) found"
        if facts.found == 0 { narrator.good(text) } else { narrator.bad(text) }
        return facts
    }

    private func tell(_ comparison: DemoComparison) {
        let size =
            "\(Plain.count(comparison.rows, "row")), \(Plain.count(comparison.fields, "field")), "
            + "\(comparison.copies) copies"
        if comparison.apart > 0 {
            narrator.detail(
                "\(Plain.count(comparison.apart, "row")) not compared: plugins decided that they differ, or have their "
                    + "changes wait")
        }
        if comparison.isEqual {
            narrator.good("equal: \(size), every field the same, versions included")
        } else {
            narrator.bad("not equal: \(size); the first differences (anna, ben, server):")
            for difference in comparison.differences {
                let values = difference.values.map { $0 ?? "nothing" }.joined(separator: " | ")
                narrator.detail("\(difference.recordID) \(difference.field): \(Plain.line(values))")
            }
        }
    }

    private func close(_ facts: DemoFacts) {
        narrator.say("\nDone in \(seconds(facts.seconds)).")
        guard folder.isKept else { return }
        let key = isEncrypted ? " --key-file \(folder.file("anna.key"))" : ""
        narrator.say(
            """
            The stores are in \(folder.path). Have a look:
              sluice query movies --store \(folder.file("anna.db"))\(key) --filter "year ge 2010" --top 5
              sluice serve --config \(folder.file("backend.yaml"))
            """)
        guard plugins != nil else { return }
        narrator.say("  sluice plugin explain \(folder.file(Self.decisionsFile)) --line 1")
    }

    func pad(_ name: String) -> String { name + String(repeating: " ", count: max(0, 6 - name.count)) }

    private func since(_ start: ContinuousClock.Instant) -> String { seconds((ContinuousClock.now - start).seconds) }

    private func seconds(_ seconds: Double) -> String { String(format: "%.2f s", seconds) }
}

extension Duration {
    /// The duration in seconds.
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// Describes the plugins of the demo.
extension DemoRun {
    /// Reports a device's plugin decisions since the last call.
    func tellNotes(_ device: DemoDevice) {
        for line in device.notes.take() { narrator.bad("\(pad(device.name))\(line)") }
    }

    /// Asks the plugins as a scheduler would. The demo pushes in any case.
    func askSchedule(_ device: DemoDevice) async {
        guard plugins?.has(.onSchedule) == true, let hook = device.plugins?.scheduleHook else { return }
        let now = device.context.options.environment.now()
        let pending = (try? await device.waiting()) ?? 0
        let question = ScheduleQuestion(reason: .network, now: now, next: now, pending: pending)
        let text: String
        do {
            text =
                switch try await hook.onSchedule(question) {
                case nil: "leaves it to the schedule"
                case .push?: "says push"
                case .pull?: "says push and pull"
                case .wait(let time)?: "says wait until \(time)"
                }
        } catch {
            text = "failed: \(Plain.line("\(error)"))"
        }
        narrator.detail("\(pad(device.name))on_schedule, asked as by a scheduler, \(text)")
    }

    /// Reports the calls of each hook on both devices, and its decisions.
    func tell(_ lines: [DemoPlugins.Line]) {
        narrator.step("The plugins were asked on both devices, and decided:")
        let table = TextTable(
            head: ["plugin", "hook", "asked", "decided"],
            rows: lines.map { line in
                let failures = line.calls.filter { $0.key != "ok" }
                let words = (line.decisions.sorted { $0.key < $1.key } + failures.sorted { $0.key < $1.key }).map {
                    "\($0.key) \(Plain.count($0.value))"
                }
                let none = "nothing: the demo has no such case, or the match does not hold"
                return [
                    line.plugin, line.hook.rawValue, Plain.count(line.asked),
                    line.asked == 0 ? none : words.joined(separator: ", "),
                ]
            })
        for line in table.lines() { narrator.detail(line) }
    }
}
