import Foundation
import Sluice
import SluiceTesting

/// A store, a server and the cycles that share them: what one cycle leaves in queue and cursor, the next goes on with.
struct TortureGroup {
    private let worker: String
    private let seed: UInt64
    private let folder: String
    private let server: ServerProcess
    /// How many operations workers put into one request.
    private let batchSize: Int
    private var ledgers: [String: Ledger] = ["w": Ledger()]
    private var foreign = 0
    private(set) var acknowledged = 0
    /// How workers ended that should have gone on until they were killed.
    private var endings: [String] = []
    /// What the store is encrypted with.
    private var secret = StoreSecret.none
    /// What it may be encrypted with; nothing alone where it never is.
    private var secrets = [StoreSecret.none]

    private var path: String { folder + "/store.db" }

    init(worker: String, sluice: String, seed: UInt64, batchSize: Int, isEncrypted: Bool) async throws {
        self.worker = worker
        self.batchSize = batchSize
        self.seed = seed
        folder =
            FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appendingPathComponent("sluice-torture-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        server = try ServerProcess(program: sluice, folder: folder)
        if isEncrypted {
            for name in ["one", "two"] {
                let file = folder + "/\(name).key"
                try StoreKey.random().write(toFile: file)
                secrets.append(StoreSecret(keyFile: file))
            }
            secret = secrets[1]
        }
        try await server.start()
    }

    func end(keeps: Bool) {
        server.end()
        if keeps { print("the files are in \(folder)") } else { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// How a cycle ends its worker.
    private enum Way {
        case point(StopMoment)
        case stop(milliseconds: Int, breaksLease: Bool)
        case server(commits: Int)
        case conversion(StoreSecret, StopMoment)
        case migration(StopMoment)
    }

    /// When a process is ended: at a commit point, counted by its name, or as one of all.
    private struct StopMoment {
        let point: String
        let occurrence: Int
        var options: [String] { ["--stop-at", point, "--occurrence", "\(occurrence)"] }
    }

    /// Where a worker can be ended by the name of the place.
    static let points = [
        "localChange/before", "localChange/after", "sealed/before", "sealed/after", "answered/after", "applied/before",
        "applied/after", "page/before", "page/after", "membership/before", "membership/after",
    ]
    /// Where a conversion can be.
    static let conversionPoints = ["key/before", "key/after"]
    /// Where a migration can be.
    static let migrationPoints = ["schema/before", "schema/after"]

    /// At one of the points, or as often at one of all that there are.
    private func moment(
        _ points: [String], _ occurrences: Int, ofAny all: Int, _ random: inout SeededGenerator
    ) -> StopMoment {
        if Bool.random(using: &random) {
            return StopMoment(point: StopPoint.any, occurrence: Int.random(in: 1...all, using: &random))
        }
        return StopMoment(
            point: points.randomElement(using: &random) ?? points[0],
            occurrence: Int.random(in: 1...occurrences, using: &random))
    }

    private func way(_ random: inout SeededGenerator) -> Way {
        if secrets.count > 1, Int.random(in: 0..<4, using: &random) == 0 {
            let others = secrets.filter { $0 != secret }
            return .conversion(
                others.randomElement(using: &random) ?? secret, moment(Self.conversionPoints, 1, ofAny: 2, &random))
        }
        return switch Int.random(in: 0..<11, using: &random) {
        case 0..<8: .point(moment(Self.points, 4, ofAny: 120, &random))
        case 8:
            .stop(
                milliseconds: Int.random(in: 0...200, using: &random), breaksLease: Bool.random(using: &random))
        case 9: .migration(moment(Self.migrationPoints, 2, ofAny: 4, &random))
        default: .server(commits: Int.random(in: 0...40, using: &random))
        }
    }

    /// Runs one cycle, and says what it was and what was wrong after it.
    mutating func cycle(_ number: Int, isLast: Bool) async throws -> (name: String, violations: [String]) {
        var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
        if Bool.random(using: &random) {
            try await judge.addForeign(foreign)
            foreign += 1
        }
        let seeds = [random.next(), random.next()]
        let name: String
        switch way(&random) {
        case .point(let moment):
            let child = try start("w", seeds[0], moment.options)
            let isReached = await read(child, "w", until: "S ", orUntil: "M")
            name = isReached ? moment.point : "\(moment.point) not reached"
            await end(child, "w")
        case .stop(let milliseconds, let breaksLease):
            name = breaksLease ? "stopped, lease broken" : "stopped"
            try await stop(seeds, milliseconds, breaksLease)
        case .server(let commits):
            name = "server"
            let child = try start("w", seeds[0])
            for _ in 0..<commits { await read(child, "w", until: "A ", orUntil: "F ") }
            server.end()
            try await server.start()
            for _ in 0..<20 { await read(child, "w", until: "A ", orUntil: "F ") }
            await end(child, "w")
        case .conversion(let target, let moment): name = try await convert(to: target, moment)
        case .migration(let moment): name = try await migrate("cycle \(number)", moment)
        }
        return (name, try await verdict(settles: isLast || Int.random(in: 0..<3, using: &random) == 0))
    }

    /// The store gets another key, or none, or as much of that as there is time for.
    ///
    /// - Returns: what it was, for the tally.
    private mutating func convert(to target: StoreSecret, _ moment: StopMoment) async throws -> String {
        func option(_ name: String, _ secret: StoreSecret) -> [String] { secret.keyFile.map { [name, $0] } ?? [] }
        let name = try await end(
            "conversion", ["convert"] + option("--from", secret) + option("--to", target), moment)
        if try await target.opens(path) { secret = target }
        return name
    }

    /// The records get another shape and their old one again, with an end in the middle, and then to the end.
    private func migrate(_ name: String, _ moment: StopMoment) async throws -> String {
        let arguments = ["migrate", "--name", name] + (secret.keyFile.map { ["--key-file", $0] } ?? [])
        let ended = try await end("migration", arguments, moment)
        if FileManager.default.fileExists(atPath: path) {
            let child = try ChildProcess(worker, arguments + ["--store", path])
            for await _ in child.lines {}
            child.wait()
            if let failure = child.failure { throw TortureFailure(message: "a migration failed: \(failure)") }
        }
        return ended
    }

    /// Runs a command on the store and ends it at that moment.
    private func end(_ name: String, _ arguments: [String], _ moment: StopMoment) async throws -> String {
        // The first cycle of a group has no store yet.
        guard FileManager.default.fileExists(atPath: path) else { return "\(name) of nothing" }
        let child = try ChildProcess(worker, arguments + ["--store", path] + moment.options)
        var ended = "\(moment.point) not reached"
        for await line in child.lines where line.hasPrefix("S ") {
            ended = moment.point == StopPoint.any ? name : moment.point
            break
        }
        child.end()
        if let failure = child.failure { throw TortureFailure(message: "a \(name) failed: \(failure)") }
        return ended
    }

    /// One worker stands still while another has the store, and goes on.
    private mutating func stop(_ seeds: [UInt64], _ milliseconds: Int, _ breaksLease: Bool) async throws {
        let one = try start("w", seeds[0])
        try await Task.sleep(for: .milliseconds(50 + milliseconds))
        one.signal(SIGSTOP)
        let two = try start("v", seeds[1], breaksLease ? ["--break-lease"] : [])
        try await Task.sleep(for: .milliseconds(250))
        one.signal(SIGCONT)
        try await Task.sleep(for: .milliseconds(100))
        await end(one, "w")
        await end(two, "v")
    }

    /// Kills a worker and reads the rest of what it announced. None ends by itself, whatever is done to its store, its
    /// lease and its server.
    private mutating func end(_ child: ChildProcess, _ name: String) async {
        child.end()
        if let failure = child.failure { endings.append("the worker \(name) was not there to be killed: \(failure)") }
        await read(child, name)
    }

    private func start(_ name: String, _ seed: UInt64, _ more: [String] = []) throws -> ChildProcess {
        let arguments = [
            "worker", "--store", path, "--endpoint", server.endpoint, "--seed", "\(seed)", "--name", name, "--first",
            "\(ledgers[name]?.last ?? 0)", "--batch-size", "\(batchSize)",
        ]
        return try ChildProcess(worker, arguments + (secret.keyFile.map { ["--key-file", $0] } ?? []) + more)
    }

    /// Reads what the worker announced: all there is, or until a line begins with `mark`, or with `other`.
    ///
    /// - Returns: whether a line began with `mark`. A worker that says nothing more for a minute is ended.
    @discardableResult
    private mutating func read(
        _ child: ChildProcess, _ name: String, until mark: String? = nil, orUntil other: String? = nil
    ) async -> Bool {
        let timer = Task {
            try await Task.sleep(for: .seconds(60))
            child.signal(SIGKILL)
        }
        defer { timer.cancel() }
        for await line in child.lines {
            ledgers[name, default: Ledger()].take(line)
            if let mark, line.hasPrefix(mark) { return true }
            if let other, line.hasPrefix(other) { return false }
        }
        return false
    }

    private var judge: Judge { Judge(path: path, secret: secret, endpoint: server.endpoint, batchSize: batchSize) }

    private mutating func verdict(settles: Bool) async throws -> [String] {
        let names = ledgers.keys.sorted()
        var (found, violations) = try await judge.look(names)
        violations += endings
        endings = []
        for name in names { violations += ledgers[name]?.compare(found[name] ?? [:]) ?? [] }
        acknowledged = ledgers.values.map(\.acknowledged).reduce(0, +)
        if settles { violations += try await judge.settle(ledgers, foreign: foreign) }
        return violations
    }
}
