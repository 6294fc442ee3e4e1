internal import Sluice

/// Which records were added to those that the demo's server began with, and which were deleted, by edits and by
/// decisions.
struct DemoLedger {
    private(set) var added: Set<RecordID> = []
    private(set) var deleted: Set<RecordID> = []

    mutating func add(_ id: RecordID) { added.insert(id) }
    mutating func delete(_ id: RecordID) { deleted.insert(id) }

    /// Follows what was decided of a conflict.
    mutating func follow(_ ruling: DemoReferee.Ruling) {
        if ruling.isDeletion {
            deleted.insert(ruling.recordID)
        } else if ruling.isDecided {
            deleted.remove(ruling.recordID)
        }
    }

    /// How many records there have to be of so many, those that are set apart with them.
    func expected(of rows: Int, apart: Set<RecordID>) -> Int { rows + added.count - deleted.subtracting(apart).count }
}
