/// Stores a page: rows without operations are written, the others move the mirror only. The cursor moves in the same
/// transaction.
package struct PageCommit: Sendable {
    package let table: String
    package let page: RowPage
    package let rows: [Int]
    package let cursor: Cursor?

    package init(table: String, page: RowPage, rows: [Int], cursor: Cursor?) {
        self.table = table
        self.page = page
        self.rows = rows
        self.cursor = cursor
    }

    /// What a page did.
    package struct Outcome: Sendable, Hashable {
        package var stored = 0
        package var deleted = 0
        package var pending = 0
    }

    /// Writes the page.
    package func write(to store: any StoreWriter) throws -> Outcome {
        let queue = QueueWriter(store)
        let pending = try queue.reader.recordIDs(in: table)
        var outcome = Outcome()
        var upserts: [Int] = []
        var deletes: [String] = []
        for index in newestOfEach() {
            if !pending.isEmpty, pending.contains(ExactText(page.rows[index].id)) {
                outcome.pending += 1
                try moveMirror(index, queue)
            } else if page.rows[index].isDeleted {
                // Most tombstones of a first pull are of rows that never were here.
                let id = page.rows[index].id
                if try store.record(id, in: table) != nil { deletes.append(id) }
            } else {
                upserts.append(index)
            }
        }
        let late = try SentTombstone.bury(page, upserts, of: table, in: store)
        if !late.isEmpty { upserts.removeAll { late.contains(ExactText(page.rows[$0].id)) } }
        try store.put(RowPage.Selection(page, upserts), in: table)
        try store.delete(deletes, from: table)
        if let cursor { try store.put(cursor.record, in: Cursor.schema.name) }
        outcome.stored = upserts.count
        outcome.deleted = deletes.count
        return outcome
    }

    /// Of an id that the page holds twice, the last row counts.
    private func newestOfEach() -> [Int] {
        var last: [ExactText: Int] = [:]
        last.reserveCapacity(rows.count)
        for index in rows { last[ExactText(page.rows[index].id)] = index }
        return last.count == rows.count ? rows : rows.filter { last[ExactText(page.rows[$0].id)] == $0 }
    }

    private func moveMirror(_ index: Int, _ queue: QueueWriter) throws {
        let row = page.rows[index]
        var state =
            try queue.reader.state(of: row.id, in: table)
            ?? RecordState(table: table, recordID: row.id, base: nil, mirror: nil)
        state.mirror = row.isDeleted ? nil : page.record(at: index)
        try queue.put(state)
    }
}
