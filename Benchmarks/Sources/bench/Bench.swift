internal import Glibc

/// `bench [--only pull|encryption|plugins|write|wire|growth|backend|abi] [--rows N] [--pairs N] [--directory DIR] [--keep]`
@main
enum Bench {
    /// Waits here for the end: a main thread that is given to the runtime does what valgrind cannot follow.
    static func main() {
        Task.detached {
            do {
                let arguments = Array(CommandLine.arguments.dropFirst())
                if arguments.first == "--child" {
                    try await child(Array(arguments.dropFirst()))
                } else {
                    try await run(try Options(arguments))
                }
                exit(0)
            } catch {
                File.complain("bench: \(error)")
                exit(1)
            }
        }
        while true { pause() }
    }

    private static func run(_ options: Options) async throws {
        let directory = try File.temporaryDirectory(in: options.directory)
        defer { if !options.keep { File.removeDirectory(directory) } }
        if options.only == nil || options.only == "pull" {
            try PullBenchmark(rows: options.rows, pairs: options.pairs, directory: directory).run()
        }
        if options.only == nil || options.only == "encryption" {
            try EncryptionBenchmark(rows: options.rows, pairs: options.pairs, directory: directory).run()
        }
        if options.only == nil || options.only == "write" {
            try WriteBenchmark(rows: options.rows, pairs: options.pairs, directory: directory).run()
        }
        if options.only == nil || options.only == "wire" {
            try WireBenchmark(rows: options.rows / 10, pairs: options.pairs, directory: directory).run()
        }
        if options.only == "growth" { try GrowthBenchmark(directory: directory).run() }
        if options.only == nil || options.only == "plugins" {
            try PluginBenchmark(rows: options.rows, pairs: options.pairs, directory: directory).run()
        }
        if options.only == nil || options.only == "backend" {
            try BackendBenchmark(pairs: options.pairs, directory: directory).run()
            if let server = PostgresBenchmark.server {
                try PostgresBenchmark(pairs: options.pairs, server: server).run()
            } else {
                say("backend on PostgreSQL: not measured; make bench starts a server for it")
            }
        }
        if options.only == nil || options.only == "abi" {
            try await ABIBenchmark(pairs: options.pairs, directory: directory).run()
        }
        if options.keep { print("kept: \(directory)") }
    }

    /// One run for the parent: its name, and two words that mean something to it.
    private static func child(_ words: [String]) async throws {
        guard words.count == 3 else { throw BenchFailure("--child is for the benchmark itself") }
        let (name, first, second) = (words[0], words[1], words[2])
        if name == "serve" { return try await WireServer.serve(pages: first) }
        if name == "serve-backend" { return try await BackendRuns.serve(first) }
        let count = Int(first) ?? 0
        let measurement =
            switch name {
            case "floor": try await Measurement.of { try PullRuns.floor(pages: first, database: second) }
            case "sluice":
                try await Measurement.of { try await PullRuns.sluice(pages: first, database: second) }
            case "encrypted":
                try await Measurement.of {
                    try await PullRuns.sluice(pages: first, database: second, encryption: ReadRuns.encryption())
                }
            case "inserts": try await Measurement.of { try await WriteRuns.inserts(count, database: second) }
            case "write-floor": try await Measurement.of { try WriteRuns.floor(count, step: count, database: second) }
            case "single": try await Measurement.of { try await WriteRuns.single(count, database: second) }
            case "single-floor": try await Measurement.of { try WriteRuns.floor(count, step: 1, database: second) }
            case "push-floor": try await Measurement.of { try WriteRuns.pushFloor(second) }
            case "push-wire", "push-wire-floor": try await wire(name, first, database: second)
            case "push": try await Measurement.of { try await WriteRuns.push(second) }
            case "reads": try await ReadRuns.points(count, database: second, nil)
            case "encrypted-reads": try await ReadRuns.points(count, database: second, ReadRuns.encryption())
            case "swift-reads": try await ABIRuns.reads(count, database: second)
            case "swift-inserts": try await ABIRuns.inserts(count, database: second)
            case "plugins": try await PageRuns.withHook(pages: first, database: second)
            case "check": try await Measurement.of { try await PageRuns.check(first, against: second) }
            case "load": try await Measurement.of { try await PluginPlans.load(count) }
            case "send": try await ExchangeRuns.overTheWire(count, to: second, plugins: [])
            case "send-plugin":
                try await ExchangeRuns.overTheWire(count, to: second, plugins: [PluginPlans.filter()])
            case "exchange": try await Measurement.of { try await ExchangeRuns.atOnce(count, second) }
            case "lua-floor": try await Measurement.of { try ExchangeRuns.floor(count) }
            case "floor-postgres-changes", "floor-postgres-insert":
                try await Measurement.of {
                    try BackendRuns.floor(count, inserts: name.hasSuffix("insert"), server: second)
                }
            case "ask-list", "ask-record", "ask-insert", "ask-changes":
                try await BackendRuns.send(count, request(name), to: second)
            case "floor-list", "floor-record":
                try await Measurement.of { try BackendRuns.floor(count, request(name), database: second) }
            default: throw BenchFailure("there is no run \(name)")
            }
        print(measurement.line)
    }

    /// A push over sockets: the number of requests at a time and the server's address are one word.
    private static func wire(_ name: String, _ word: String, database: String) async throws -> Measurement {
        let parts = word.split(separator: ",", maxSplits: 1)
        guard parts.count == 2, let width = Int(parts[0]) else { throw BenchFailure("\(word) names no server") }
        return try await Measurement.of {
            if name == "push-wire" { return try await WriteRuns.push(database, to: String(parts[1]), width: width) }
            try WriteRuns.pushFloor(database, to: String(parts[1]), width: width)
        }
    }

    /// The request that a run of the backend is named after.
    private static func request(_ run: String) -> BackendRuns.Request {
        BackendRuns.Request.allCases.first { run.hasSuffix($0.rawValue) } ?? .insert
    }
}
