internal import SluiceBase

extension StoreReader {
    /// All records of a table in the order of their ids, some at a time, so that a large table is never in memory
    /// whole. Of what a writer puts meanwhile, those come too whose ids are still ahead.
    func forEachRecord(in table: String, _ body: (JSON) throws -> Void) throws {
        var last: String?
        while true {
            let after = last.map { QueryExpression.binary(.gt, .column("id"), .literal(.string($0))) }
            let some = try records(matching: Query(table, filter: after, order: [.init("id")], top: 500))
            for record in some { try body(record) }
            guard let end = some.last?["id"]?.string else { return }
            last = end
        }
    }

    /// The record that an application names by that id: the one with the same bytes, or else the one whose id is that GUID in
    /// small letters or in capitals, as the server may write it.
    func record(named id: RecordID, in table: String) throws -> JSON? {
        for id in id.spellings { if let record = try record(id, in: table) { return record } }
        return nil
    }
}
