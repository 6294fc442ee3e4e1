import ArgumentParser
import Foundation
import Sluice
import SluiceTesting

/// A device at work: it edits its own records, pushes and pulls, and announces on its standard output what it is about
/// to do and what was acknowledged, a line each.
///
/// `B n kind id value` begins an edit, `A n` says that the store acknowledged it, `F n code message` that it refused it,
/// `E code message` that a push or a pull failed, and `S point/side` that it stands still where it was told to.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "worker", shouldDisplay: false)

    @Option var store: String
    @Option var keyFile: String?
    @Option var endpoint: String
    @Option var seed: UInt64
    @Option(help: "What the ids of its records begin with.") var name = "w"
    @Option(help: "The first value that it writes.") var first: Int
    @Option(help: "Stand still at this commit point, such as applied/before.") var stopAt: String?
    @Option(help: "At which of its occurrences.") var occurrence = 1
    @Flag(help: "Take the lease away from whoever has it, once.") var breakLease = false

    static let properties = ["a", "b", "c"]
    static let count = 8
    /// The rows that others have put on the server.
    private static let foreign = Query("todos", filter: .call(.startswith, [.column("id"), .literal(.string("s"))]))

    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }

    func run() async throws {
        // Whoever started it may be gone.
        alarm(60)
        let store = try SQLiteStore(path: store, encryption: StoreSecret(keyFile: keyFile).encryption)
        let context = try await TortureContext.make(
            store, endpoint, concurrency: 1 + Int(seed % 4),
            environment: StopPoint(stopAt, occurrence).environment)
        Self.say("R")
        if breakLease { try await context.breakLease() }
        // The edits go on while a push waits for its answer.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await edit(context.table("todos")) }
            group.addTask { try await synchronise(context) }
            try await group.waitForAll()
        }
    }

    private func edit(_ todos: SyncTable) async throws {
        var random = SeededGenerator(seed: seed)
        var number = first
        while true {
            let id = "\(name)\(Int.random(in: 0..<Self.count, using: &random))"
            let property = Self.properties.randomElement(using: &random) ?? "a"
            let isDelete = Int.random(in: 0..<6, using: &random) == 0
            number += 1
            do {
                if try await todos.lookup(id: id) == nil {
                    Self.say("B \(number) insert \(id) \(property) \(number)")
                    try await todos.insert(["id": JSON(id), property: JSON(number)])
                } else if isDelete {
                    Self.say("B \(number) delete \(id) - 0")
                    try await todos.delete(id: id)
                } else {
                    Self.say("B \(number) update \(id) \(property) \(number)")
                    try await todos.update(["id": JSON(id), property: JSON(number)])
                }
                Self.say("A \(number)")
            } catch let error as SluiceError {
                Self.say("F \(number) \(error.code) \(error.message)")
            }
            // Pauses, in which a push comes to its end: a pull begins behind it.
            let isPause = Int.random(in: 0..<12, using: &random) == 0
            try await Task.sleep(for: .milliseconds(Int.random(in: isPause ? 60...150 : 0...4, using: &random)))
        }
    }

    private func synchronise(_ context: SyncContext) async throws {
        var random = SeededGenerator(seed: seed &+ 1)
        let todos = try context.table("todos")
        while true {
            do {
                switch Int.random(in: 0..<12, using: &random) {
                case 0..<4: _ = try await todos.pull(named: "all")
                case 4: _ = try await context.pull(Self.foreign, named: "foreign")
                // No row goes by it, as the query of all holds each of them too.
                case 5:
                    do { try await context.purge(Query("todos"), named: "foreign") } catch let error as SluiceError
                        where error.code == .invalidArgument
                    {}  // It has not been pulled since the last purge.
                default:
                    let result = try await context.push()
                    if let error = result.error { Self.say("E \(error.code) \(error.message)") }
                }
            } catch let error as SluiceError {
                Self.say("E \(error.code) \(error.message)")
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...10, using: &random)))
        }
    }
}

/// The context that worker and judge have over a store.
enum TortureContext {
    static func make(
        _ store: SQLiteStore, _ endpoint: String, concurrency: Int = 1, environment: SyncEnvironment = .system
    ) async throws -> SyncContext {
        var options = ClientOptions()
        options.retry = .never
        let client = SluiceClient(
            endpoint: try Endpoint(endpoint), dialect: .azureV2, transport: AsyncHTTPTransport(), options: options)
        return try await SyncContext(
            client: client, store: store, tables: [TableSchema("todos", columns: [.init("a", .integer)])],
            options: SyncOptions(
                conflictHandlers: [
                    ConflictClosure { conflict in
                        // Whether the insert came before the tombstone or never arrived, nobody can know.
                        conflict.operation.kind == .insert && conflict.isDeletedOnServer && conflict.maybeApplied
                            ? .client : .next
                    }
                ],
                // Nobody else changes the worker's records: any other conflict would be a repeat that was not
                // recognised, and waits.
                conflictPolicy: .hold, pageSize: 20, commitLag: .zero, leaseTimeout: .zero,
                environment: environment, concurrency: concurrency))
    }
}
