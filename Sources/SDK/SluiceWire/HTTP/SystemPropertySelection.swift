/// Which system columns to ask for, on a wire that gives them only when asked.
public struct SystemPropertySelection: Sendable, Hashable {
    /// The columns' names as the wire has them, or `*` for all; none means not to ask. Default `*`.
    public var standard: [String]
    /// What to ask of single tables instead, by the table's name.
    public var tables: [String: [String]]

    /// A selection.
    public init(_ standard: [String] = ["*"], tables: [String: [String]] = [:]) {
        self.standard = standard
        self.tables = tables
    }

    /// What to ask of a table.
    public func values(for table: String) -> [String] { tables[table] ?? standard }
}
