internal import Sluice

/// The edits of the two devices while there is no network: each edits, inserts and deletes, and both edit one record.
struct DemoEdits {
    /// The record that both edit: Fight Club.
    static let shared = "id-009"

    let narrator: Narrator

    /// - Returns: the records that were added and deleted, as far as plugins allow.
    func make(on devices: [DemoDevice]) async throws -> DemoLedger {
        var ledger = DemoLedger()
        guard devices.count == 2 else { return ledger }
        let (anna, ben) = (devices[0], devices[1])
        try await edit(anna, Self.shared, ["title": "Fight Club (4K)", "duration": 151])
        try await edit(anna, "id-017", ["rating": "PG13"])
        try await insert(
            anna, ["id": "anna-1", "title": "Stalker", "year": 1979, "duration": 162, "rating": "Unrated"], &ledger)
        try await delete(anna, "id-013", &ledger)

        try await edit(ben, Self.shared, ["title": "Fight Club (uncut)", "rating": "NC17"])
        try await edit(ben, "id-000", ["duration": 143])
        try await insert(
            ben, ["id": "ben-1", "title": "Solaris", "year": 1972, "duration": 167, "rating": "PG"], &ledger)
        try await delete(ben, "id-018", &ledger)
        return ledger
    }

    private func edit(_ device: DemoDevice, _ id: String, _ changes: JSON) async throws {
        let movies = try device.movies
        let title = try await movies.lookup(id: id)?["title"]?.string ?? id
        var record = changes
        record["id"] = JSON(id)
        let both = id == Self.shared ? "  <- both" : ""
        try await attempt(device, "changes \(changes.names.map(\.text).joined(separator: " and ")) of \(title)\(both)")
        {
            try await movies.update(record)
        }
    }

    private func insert(_ device: DemoDevice, _ record: JSON, _ ledger: inout DemoLedger) async throws {
        let isDone = try await attempt(device, "adds \(record["title"]?.string ?? "a movie")") {
            try await device.movies.insert(record)
        }
        if isDone, let id = record["id"]?.textID { ledger.add(id) }
    }

    private func delete(_ device: DemoDevice, _ id: String, _ ledger: inout DemoLedger) async throws {
        let movies = try device.movies
        let title = try await movies.lookup(id: id)?["title"]?.string ?? id
        if try await attempt(device, "deletes \(title)", { try await movies.delete(id: id) }) {
            ledger.delete(RecordID(id))
        }
    }

    /// Makes an edit, and reports it. A plugin may refuse it: then the demo goes on without it.
    ///
    /// - Returns: whether it was written.
    @discardableResult
    private func attempt(
        _ device: DemoDevice, _ text: String, _ write: () async throws -> Void
    ) async throws -> Bool {
        let line = "\(device.name)\(String(repeating: " ", count: max(1, 6 - device.name.count)))\(text)"
        do {
            try await write()
            narrator.detail(line)
            return true
        } catch let error as SluiceError where error.isByHook {
            narrator.bad("\(line): \(Plain.line(error.message))")
            return false
        }
    }
}

extension SluiceError {
    /// Whether a hook refused a local change, or failed on it.
    var isByHook: Bool { code == .refusedByHook || code == .hookFailed }
}

/// The records added to the demo server's first ones, and those deleted, by edits and by decisions.
struct DemoLedger {
    private(set) var added: Set<RecordID> = []
    private(set) var deleted: Set<RecordID> = []

    mutating func add(_ id: RecordID) { added.insert(id) }
    mutating func delete(_ id: RecordID) { deleted.insert(id) }

    /// Applies the decision of a conflict.
    mutating func follow(_ ruling: DemoHandler.Ruling) {
        if ruling.isDeletion {
            deleted.insert(ruling.recordID)
        } else if ruling.isDecided {
            deleted.remove(ruling.recordID)
        }
    }

    /// Returns the necessary number of records after beginning with so many, including those set apart.
    func expected(of rows: Int, apart: Set<RecordID>) -> Int { rows + added.count - deleted.subtracting(apart).count }
}
