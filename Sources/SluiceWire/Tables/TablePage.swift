internal import SluiceBase

/// A page of a table's rows, as the server cut it.
public struct TablePage<Row: Sendable>: Sendable {
    /// The rows in the server's order.
    public let rows: [Row]
    /// How many rows the query has in all, if it was asked and the server reported it.
    public let count: Int?
    /// Where the next page is.
    let cursor: PageCursor?

    /// Whether there may be a further page. On a wire that does not show where its lists end this is so until a page
    /// comes without a row.
    public var hasNext: Bool { cursor != nil }

    /// The page with other rows in the same place.
    func map<Other>(_ body: (Row) throws(SluiceError) -> Other) throws(SluiceError) -> TablePage<Other> {
        var others: [Other] = []
        others.reserveCapacity(rows.count)
        for row in rows { others.append(try body(row)) }
        return TablePage<Other>(rows: others, count: count, cursor: cursor)
    }
}
