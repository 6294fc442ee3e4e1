internal import HTTPTypes
internal import SluiceCore
internal import SluiceSQLite
internal import SluiceTesting
internal import Synchronization

/// What a device does in a trial, the same each time: it edits, pushes with one answer lost and an edit in between,
/// closes and opens the store, pulls pages, reconciles, lets a query's rows go, and gives the records another shape. It
/// goes on after every failure, as a program would.
struct StorageScenario {
    let path: String
    let encryption: StoreEncryption?
    let options: SQLiteStore.Options
    let server: StorageServer
    /// Whether the store is empty, so that it has to be filled first.
    let isNew: Bool
    /// Whether the last transactions may be gone, whole and in order.
    let mayLoseLast: Bool
    let ledger = StorageLedger()

    /// The records get another shape and their old one again.
    static let migrations = [
        StoreMigration(
            "there", [.renameProperty("c", to: "cc", in: "todos"), .renameTable("todos", to: "tasks")]),
        StoreMigration(
            "back", [.renameTable("tasks", to: "todos"), .renameProperty("cc", to: "c", in: "todos")]),
    ]
    /// The one record that the server changes too: a conflict of another would be a repeat that was not recognised.
    static let contested: RecordID = "r2"

    /// A context over the store of the trial.
    ///
    /// - Parameter ledger: is told of conflicts that cannot be; nil where they can, as the last transactions may be
    ///   gone.
    static func context(
        _ store: SQLiteStore, _ server: StorageServer, _ ledger: StorageLedger?, migrations: [StoreMigration] = []
    ) async throws -> SyncContext {
        let environment = SyncEnvironment(
            now: { Timestamp(ticks: 17_000_000_000_000_000) }, makeID: { server.makeID() })
        var options = ClientOptions()
        options.retry = .never
        let client = SluiceClient(
            endpoint: try Endpoint("http://model.test"), transport: server, options: options)
        return try await SyncContext(
            client: client, store: store, migrations: migrations,
            options: SyncOptions(
                conflictHandlers: [
                    ConflictClosure { conflict in
                        if conflict.recordID != contested {
                            ledger?.surprise("a conflict of \(conflict.recordID), which nobody else has changed")
                        }
                        return .client
                    }
                ], pageSize: 3, commitLag: .zero, leaseTimeout: .zero,
                environment: environment))
    }

    func run() async {
        await session(first)
        server.model.onRequest(nil)
        server.model.seed("todos", [["id": "r2", "x": 1]] + (0..<5).map { ["id": JSON("s\($0)"), "x": 1] })
        server.model.softDelete("todos", "r3")
        await session(second)
        await session(migrations: Self.migrations) { _ in }
    }

    /// Opens the store, does what `body` says, and closes it.
    private func session(
        migrations: [StoreMigration] = [], _ body: (SyncContext) async throws -> Void
    ) async {
        do {
            let store = try SQLiteStore(path: path, encryption: encryption, options: options)
            do {
                try await body(Self.context(store, server, mayLoseLast ? nil : ledger, migrations: migrations))
            } catch {
                check(error, "a session")
            }
            try await store.close()
        } catch {
            check(error, "opening or closing")
        }
    }

    private func first(_ context: SyncContext) async throws {
        let todos = try context.table("todos")
        if isNew { await pull(todos) }
        await ledger.edit("n1", ["a": 1, "d": 2]) { try await todos.insert($0) }
        await ledger.edit("r0", ["a": 3]) { try await todos.update($0) }
        await ledger.edit("r1") { _ in try await todos.delete(id: "r1") }
        loseAnswers(todos)
        await push(context)
        await push(context)
        await ledger.edit("r5", ["a": 5]) { try await todos.update($0) }
    }

    private func second(_ context: SyncContext) async throws {
        let todos = try context.table("todos")
        await ledger.edit("r0", ["c": 6]) { try await todos.update($0) }
        await ledger.edit("n2", ["a": 7, "d": 8]) { try await todos.insert($0) }
        await ledger.edit("n1", ["c": 9]) { try await todos.update($0) }
        await pull(todos)
        await look(context, todos)
        await ledger.edit("r2", ["c": 10]) { try await todos.update($0) }
        await ledger.edit("r4") { _ in try await todos.delete(id: "r4") }
    }

    /// The first answer about `r0` is lost, and `n1` is edited while it is sent.
    private func loseAnswers(_ todos: SyncTable<JSON>) {
        let ledger = ledger
        let (edit, loss) = (Once(), Once())
        server.model.onRequest { request in
            switch request.head.method {
            case .post where edit.isFirst():
                await ledger.edit("n1", ["b": 4]) { try await todos.update($0) }
                return .none
            case .patch where loss.isFirst(): return .loseAnswer
            default: return .none
            }
        }
    }

    private func pull(_ todos: SyncTable<JSON>) async {
        do {
            _ = try await todos.pull(named: "all")
        } catch {
            check(error, "a pull")
        }
    }

    /// A second query takes some of the rows, which it lets go again; they stay, as the first one has them too.
    private func look(_ context: SyncContext, _ todos: SyncTable<JSON>) async {
        let some = TableQuery("todos", filter: .call(.startswith, [.column("id"), .literal(.string("s"))]))
        do {
            _ = try await todos.reconcile(named: "all")
            _ = try await context.pull(some, named: "some")
            try await context.purge(TableQuery("todos"), named: "some")
        } catch let error as SluiceError where [.operationsPending, .invalidArgument].contains(error.code) {
            // An edit that could not be pushed waits, or one of the queries was never pulled.
        } catch {
            check(error, "a look at what is there")
        }
    }

    private func push(_ context: SyncContext) async {
        do {
            let result = try await context.push()
            if let error = result.error { check(error, "a push") }
        } catch {
            check(error, "a push")
        }
    }

    /// Errors of the store, and of the one lost answer, are all that may be.
    private func check(_ error: any Error, _ what: String) {
        let code = (error as? SluiceError)?.code
        if code?.isStore != true, code != .network { ledger.surprise("\(what) threw \(error)") }
    }
}

/// Is first once.
private final class Once: Sendable {
    private let isUsed = Mutex(false)

    func isFirst() -> Bool {
        isUsed.withLock { used in
            defer { used = true }
            return !used
        }
    }
}
