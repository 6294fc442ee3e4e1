/// Rows of the server's that are about to be stored, in the order in which they came.
public struct PulledPage: Sendable, Hashable {
    /// The table.
    public var table: String
    /// The name of the query; nil for a pull without one.
    public var queryName: String?
    /// The rows, with what hooks before this one have changed. Those that an earlier hook dropped, and those that
    /// cannot be stored anyway, are not among them.
    public var rows: [PulledRow]

    package init(table: String, queryName: String? = nil, rows: [PulledRow]) {
        self.table = table
        self.queryName = queryName
        self.rows = rows
    }
}
