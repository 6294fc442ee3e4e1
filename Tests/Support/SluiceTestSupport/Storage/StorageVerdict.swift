internal import SluiceCore
internal import SluiceSQLite
internal import SluiceTesting

/// What must hold of a store after a trial, on the machine's own file system.
struct StorageVerdict {
    let path: String
    let encryption: StoreEncryption?
    let server: StorageServer
    let ledger: StorageLedger
    /// Whether the last transactions may be gone, whole and in order.
    let mayLoseLast: Bool

    /// What does not hold.
    func violations() async -> [String] {
        do {
            let store = try SQLiteStore(
                path: path, encryption: encryption, options: .init(durability: .normal, readers: 1))
            var found: [String] = []
            do {
                found += try await store.check().map { "\($0)" }
                let context = try await StorageScenario.context(
                    store, server, mayLoseLast ? nil : ledger, migrations: StorageScenario.migrations)
                found += try await rest(store, context)
                found += try await converged(store, context)
            } catch {
                found.append("the store cannot be used: \(error)")
            }
            try await store.close()
            // What came up meanwhile is among them.
            return ledger.surprises + found
        } catch {
            return ledger.surprises + ["the store cannot be opened: \(error)"]
        }
    }

    /// What the store holds as it was found.
    private func rest(_ store: SQLiteStore, _ context: SyncContext) async throws -> [String] {
        var found: [String] = []
        let todos = try context.table("todos")
        let operations = try await context.queue.operations()
        let busy = Set(operations.map(\.recordID))
        var records: [RecordID: JSON] = [:]
        for record in try await todos.records() { records[record["id"]?.textID ?? ""] = record }
        found += lost(records)
        for (id, record) in records where !busy.contains(id) && !server.hasHad(record, id) {
            found.append("\(id) differs from all that the server had, and has no operation")
        }
        for operation in operations where operation.kind == .insert || operation.kind == .update {
            if records[operation.recordID] == nil { found.append("the operation on \(operation.recordID) has no row") }
        }
        let states = try await store.read { try $0.records(matching: TableQuery(RecordState.schema.name)) }
        for state in states where !busy.contains(state["record"]?.textID ?? "") {
            found.append("\(state["record"] ?? .null) has a base and no operation")
        }
        // Page and cursor together: up to the cursor, all that the server has is here.
        let cursor = try await context.status().cursors.first?.updatedAt ?? ""
        for (id, row) in server.model.rows("todos") where !busy.contains(id) {
            guard let time = row["updatedAt"]?.string, time <= cursor else { continue }
            let isRight = row["deleted"] == true ? records[id] == nil : records[id]?["version"] == row["version"]
            if !isRight { found.append("the cursor passed \(id), which is not here as the server has it") }
        }
        return found
    }

    private func lost(_ records: [RecordID: JSON]) -> [String] {
        var found: [String] = []
        var isCut = false
        for edit in ledger.edits {
            guard var isSeen = edit.isSeen(in: records[edit.id]) else {
                found.append("the edit of \(edit.id) is there in part: \(edit.fields)")
                continue
            }
            // Before the first pull, nothing of it was there to be deleted.
            if edit.fields.isEmpty, records["r0"] == nil { isSeen = false }
            if mayLoseLast {
                if isSeen, isCut, edit.isAcknowledged {
                    found.append("the edit of \(edit.id) is there, and one before it is not")
                }
                if edit.isAcknowledged, !isSeen { isCut = true }
            } else if edit.isAcknowledged, !isSeen {
                found.append("the acknowledged edit of \(edit.id) is lost: \(edit.fields)")
            }
        }
        return found
    }

    /// What differs after the store was pushed and pulled without faults.
    private func converged(_ store: SQLiteStore, _ context: SyncContext) async throws -> [String] {
        server.model.onRequest(nil)
        let todos = try context.table("todos")
        for _ in 0..<3 {
            for operation in try await context.queue.operations() where operation.failure != nil {
                try await context.queue.retry(operation.id)
            }
            let result = try await context.push()
            if let error = result.error { return ["the push afterwards failed: \(error)"] }
            _ = try await todos.pull(named: "all")
        }
        var found: [String] = []
        let operations = try await context.queue.operations()
        if !operations.isEmpty { found.append("the queue is not empty: \(operations.map(\.recordID))") }
        let records = try await todos.records()
        if Set(records.map(StorageServer.plain)) != server.live { found.append("the copies differ in the end") }
        guard !mayLoseLast else { return found }
        let rows = server.model.rows("todos").filter { $0.value["deleted"] != true }
        for edit in ledger.edits where edit.isAcknowledged && edit.isSeen(in: rows[edit.id]) != true {
            found.append("the acknowledged edit of \(edit.id) never reached the server: \(edit.fields)")
        }
        return found
    }
}
