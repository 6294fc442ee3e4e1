internal import SluiceCore

/// The records of a page, collected while reading.
struct RecordPage: Sendable {
    /// The most bytes of an answer for one stored byte: a control character is written as `\u0001`.
    private static let mostWritten = 6

    private let size: PageSize
    private(set) var records: [JSON] = []
    /// Whether there are more records than the page holds.
    private(set) var hasMore = false
    /// The upper bound of the records' bytes.
    private var bound = 0
    /// The exact number of bytes, counted only once the bound exceeds the page.
    private var written: Int?

    init(_ size: PageSize) { self.size = size }

    /// Adds a record with `stored` bytes in the database; returns false if the page has no room for it.
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
    /// Returns the records of a page, in the query's order.
    func page(_ query: TableQuery, _ size: PageSize, _ connection: any StorageConnection) throws -> RecordPage {
        var page = RecordPage(size)
        try stored(connection).forEach(inOrder(query), on: connection) { page.add($0, stored: $1) }
        return page
    }
}

extension RecordStorage {
    /// Returns the records that match, in the query's order, with `skip`, `top` and `select` applied.
    func records(matching query: TableQuery, on connection: any StorageConnection) throws -> [JSON] {
        var records: [JSON] = []
        try forEach(query, on: connection) { record, _ in
            records.append(record)
            return true
        }
        return records
    }
}
