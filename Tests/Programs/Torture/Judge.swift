import Foundation
import Sluice

/// What must hold of a store whose worker was ended.
struct Judge {
    let path: String
    let secret: StoreSecret
    let endpoint: String
    let batchSize: Int

    /// The worker's records as the store has them, and what is wrong with the store.
    func look(_ names: [String]) async throws -> (records: [String: [String: [String: Int]]], violations: [String]) {
        var violations: [String] = []
        let store = try SQLiteStore(path: path, encryption: secret.encryption)
        violations += try await store.check().map { "\($0)" }
        let context = try await TortureContext.make(store, endpoint, batchSize: batchSize)
        let rows = try await context.table("todos").records()
        let operations = try await context.queue.operations()
        let ids = Set(rows.compactMap { $0["id"]?.textID })
        for operation in operations where operation.kind == .insert || operation.kind == .update {
            // After it a delete may wait.
            let isLast = operations.last { $0.recordID == operation.recordID }?.id == operation.id
            if isLast, !ids.contains(operation.recordID) {
                violations.append("the \(operation.kind.rawValue) of \(operation.recordID) has no row")
            }
        }
        try await store.close()
        var found: [String: [String: [String: Int]]] = [:]
        for name in names { found[name] = Self.plain(rows, name) }
        return (found, violations)
    }

    /// Pushes and pulls until all is settled, and compares store, server and ledgers.
    func settle(_ ledgers: [String: Ledger], foreign: Int) async throws -> [String] {
        let store = try SQLiteStore(path: path, encryption: secret.encryption, options: .init(durability: .normal))
        let context = try await TortureContext.make(store, endpoint, batchSize: batchSize)
        let todos = try context.table("todos")
        var violations: [String] = []
        var last: PushResult?
        // A push may leave most of a long queue of groups to the next one. What counts is that each sends something.
        for round in 0..<100 {
            for operation in try await context.queue.operations() where operation.failure != nil {
                try await context.queue.retry(operation.id)
            }
            let result = try await context.push()
            if let error = result.error { violations.append("the push afterwards failed: \(error)") }
            try await todos.pull(named: "all")
            last = result
            if result.isClean || round >= 6 && result.applied == 0 { break }
        }
        if let last, !last.isClean { violations.append("the last push afterwards ended so: \(last)") }
        for operation in try await context.queue.operations() {
            violations.append(
                "\(operation.kind.rawValue) \(operation.recordID) stays in the queue, \(operation.state.rawValue): "
                    + (operation.failure?.message ?? "no reason"))
        }
        let local = try await todos.records()
        try await store.close()
        let remote = try await remoteRows()
        for (name, ledger) in ledgers.sorted(by: { $0.key < $1.key }) {
            if Self.plain(local, name) != ledger.records { violations.append("\(name): the store is not as settled") }
            if Self.plain(remote, name) != ledger.records {
                violations.append("\(name): the server has \(Self.plain(remote, name)) for \(ledger.records)")
            }
        }
        let missing = (0..<foreign).filter { n in !local.contains { $0["id"] == JSON("s\(n)") } }
        if !missing.isEmpty { violations.append("rows of the server were skipped: \(missing)") }
        return violations
    }

    /// Adds a row to the server, as another device would.
    func addForeign(_ number: Int) async throws {
        let client = try SluiceClient(endpoint: Endpoint(endpoint), dialect: .azureV2, transport: AsyncHTTPTransport())
        _ = try await client.table("todos").insert(["id": JSON("s\(number)"), "a": JSON(number)])
    }

    private func remoteRows() async throws -> [JSON] {
        let client = try SluiceClient(endpoint: Endpoint(endpoint), dialect: .azureV2, transport: AsyncHTTPTransport())
        var rows: [JSON] = []
        for try await row in client.table("todos").records() { rows.append(row) }
        return rows
    }

    private static func plain(_ rows: [JSON], _ name: String) -> [String: [String: Int]] {
        var records: [String: [String: Int]] = [:]
        for row in rows {
            guard let id = row["id"]?.string, id.hasPrefix(name) else { continue }
            records[id] = [:]
            for property in WorkerCommand.properties {
                if let value = row[property]?.int { records[id]?[property] = Int(value) }
            }
        }
        return records
    }
}
