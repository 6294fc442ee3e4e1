extension SystemProperty {
    /// The system columns to request, on a wire that sends them only on request.
    public struct Selection: Sendable, Hashable {
        /// The columns' names on the wire, or `*` for all; an empty list requests none. Default `*`.
        public var standard: [String]
        /// The columns to request of single tables instead, by the table's name.
        public var tables: [String: [String]]

        /// A selection.
        public init(_ standard: [String] = ["*"], tables: [String: [String]] = [:]) {
            self.standard = standard
            self.tables = tables
        }

        /// Returns the columns to request of a table.
        public func values(for table: String) -> [String] { tables[table] ?? standard }
    }
}
