internal import SluiceCore

/// The records of a page, as they are read.
struct RecordPage: Sendable {
    /// The number of bytes of an answer that one stored byte makes at the most: a control character is written as `\u0001`.
    private static let mostWritten = 6

    private let size: PageSize
    private(set) var records: [JSON] = []
    /// Whether there are more records than the page holds.
    private(set) var hasMore = false
    /// The most bytes that the records come to.
    private var bound = 0
    /// The bytes that they come to, where the bound alone does not tell that they have room.
    private var written: Int?

    init(_ size: PageSize) { self.size = size }

    /// Adds a record that has `stored` bytes in the database; false where the page had no room for it.
    mutating func add(_ record: JSON, stored: Int) -> Bool {
        guard records.count < size.records, hasRoom(record, stored) || records.isEmpty else {
            hasMore = true
            return false
        }
        records.append(record)
        return true
    }

    private mutating func hasRoom(_ record: JSON, _ stored: Int) -> Bool {
        let (most, isBeyond) = stored.multipliedReportingOverflow(by: Self.mostWritten)
        let (sum, isMuch) = bound.addingReportingOverflow(most)
        bound = isBeyond || isMuch ? .max : sum
        if bound <= size.bytes { return true }
        let sumWritten = (written ?? records.reduce(0) { $0 + $1.bytes().count }) + record.bytes().count
        written = sumWritten
        return sumWritten <= size.bytes
    }
}

extension BackendTable {
    /// The records of a page, in the query's order.
    func page(_ query: Query, _ size: PageSize, _ connection: any StorageConnection) throws -> RecordPage {
        var page = RecordPage(size)
        try stored(connection).forEach(inOrder(query), on: connection) { page.add($0, stored: $1) }
        return page
    }
}

extension RecordStorage {
    /// The records that match, in the query's order, with `skip`, `top` and `select` applied.
    func records(matching query: Query, on connection: any StorageConnection) throws -> [JSON] {
        var records: [JSON] = []
        try forEach(query, on: connection) { record, _ in
            records.append(record)
            return true
        }
        return records
    }
}
