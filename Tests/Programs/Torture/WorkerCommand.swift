import ArgumentParser
import Foundation
import Sluice
import SluiceTesting

/// A device at work: it edits its own records, pushes and pulls, and announces on its standard output what it is about
/// to do and what was acknowledged, a line each.
///
/// `B n kind id property` begins an edit that writes the value n, or with more such words a group of them, `A n` says
/// that the store acknowledged it, `F n code message` that it refused it, `E code message` that a push or a pull
/// failed, `S point/side` that it stands still where it was told to, and `M` that it never came there.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "worker", shouldDisplay: false)

    @Option var store: String
    @Option var keyFile: String?
    @Option var endpoint: String
    @Option var seed: UInt64
    @Option(help: "What the ids of its records begin with.") var name = "w"
    @Option(help: "The first value that it writes.") var first: Int
    @Option(help: "How many operations go into one request; with more than one, groups are made too.")
    var batchSize = 1
    @Option(help: "Stand still at this commit point, such as applied/before.") var stopAt: String?
    @Option(help: "At which of its occurrences.") var occurrence = 1
    @Flag(help: "Take the lease away from whoever has it, once.") var breakLease = false

    static let properties = ["a", "b", "c"]
    static let count = 8
    /// The rows that others have put on the server.
    private static let foreign = TableQuery(
        "todos", filter: .call(.startswith, [.column("id"), .literal(.string("s"))]))

    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }

    func run() async throws {
        // Whoever started it may be gone.
        alarm(60)
        let store = try SQLiteStore(path: store, encryption: StoreSecret(keyFile: keyFile).encryption)
        let context = try await TortureContext.make(
            store, endpoint, concurrency: 1 + Int(seed % 4), batchSize: batchSize,
            environment: StopPoint(stopAt, occurrence).environment)
        Self.say("R")
        if breakLease { try await context.breakLease() }
        // The edits go on while a push waits for its answer.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await edit(context) }
            group.addTask { try await synchronise(context) }
            try await group.waitForAll()
        }
    }

    private func edit(_ context: SyncContext) async throws {
        let todos = try context.table("todos")
        var random = SeededGenerator(seed: seed)
        var number = first
        while true {
            let id = "\(name)\(Int.random(in: 0..<Self.count, using: &random))"
            let property = Self.properties.randomElement(using: &random) ?? "a"
            let isDelete = Int.random(in: 0..<6, using: &random) == 0
            number += 1
            let makesGroup = batchSize > 1 && Int.random(in: 0..<4, using: &random) == 0
            do {
                if makesGroup {
                    try await editGroup(context, number, Int.random(in: 0..<Self.count, using: &random), property)
                } else if try await todos.lookup(id: id) == nil {
                    Self.say("B \(number) insert \(id) \(property)")
                    try await todos.insert(["id": JSON(id), property: JSON(number)])
                } else if isDelete {
                    Self.say("B \(number) delete \(id) -")
                    try await todos.delete(id: id)
                } else {
                    Self.say("B \(number) update \(id) \(property)")
                    try await todos.update(["id": JSON(id), property: JSON(number)])
                }
                Self.say("A \(number)")
            } catch let error as SluiceError {
                Self.say("F \(number) \(error.code) \(error.message)")
            }
            // Pauses, in which a push comes to its end: a pull begins after it.
            let isPause = Int.random(in: 0..<12, using: &random) == 0
            try await Task.sleep(for: .milliseconds(Int.random(in: isPause ? 60...150 : 0...4, using: &random)))
        }
    }

    /// Changes three records in one group: makes those that are not there, and deletes every fourth of the others.
    private func editGroup(_ context: SyncContext, _ number: Int, _ first: Int, _ property: String) async throws {
        try await context.group { group in
            let edits = try (0..<3).map { offset in
                let id = "\(name)\((first + offset) % Self.count)"
                let isThere = try group.lookup(id: id, in: "todos") != nil
                return (id: id, kind: !isThere ? "insert" : (number + offset) % 4 == 0 ? "delete" : "update")
            }
            Self.say("B \(number) " + edits.map { "\($0.kind) \($0.id) \(property)" }.joined(separator: " "))
            for (id, kind) in edits {
                let record: JSON = ["id": JSON(id), property: JSON(number)]
                switch kind {
                case "insert": try group.insert(record, in: "todos")
                case "delete": try group.delete(id: id, in: "todos")
                default: try group.update(record, in: "todos")
                }
            }
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
                    do { try await context.purge(TableQuery("todos"), named: "foreign") } catch let error as SluiceError
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
        _ store: SQLiteStore, _ endpoint: String, concurrency: Int = 1, batchSize: Int = 1,
        environment: SyncEnvironment = .system
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
                conflictPolicy: .hold, batchSize: batchSize, pageSize: 20, commitLag: .zero, leaseTimeout: .zero,
                environment: environment, concurrency: concurrency))
    }
}
