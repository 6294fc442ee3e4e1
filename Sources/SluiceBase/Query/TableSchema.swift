/// A table's columns, as its user declares them.
///
/// A declared column gets a typed place of its own, which queries and other tools use directly. Every other property
/// of a record is kept too, and can be queried; so a table need not be declared at all.
public struct TableSchema: Sendable, Hashable {
    /// A declared column.
    public struct Column: Sendable, Hashable {
        /// The property's name.
        public var name: PropertyName
        /// What its values are.
        public var type: ColumnType

        /// A column.
        public init(_ name: PropertyName, _ type: ColumnType) {
            self.name = name
            self.type = type
        }
    }

    /// What a column's values are. A value of another type is kept exactly as it is all the same.
    public enum ColumnType: String, Sendable, Hashable, CaseIterable {
        /// Text.
        case string
        /// A 64-bit integer.
        case integer
        /// A number.
        case real
        /// `true` or `false`.
        case boolean
        /// A point in time, as ISO 8601 text.
        case date
        /// An object or an array.
        case json
    }

    /// The table's name.
    public var name: String
    /// The columns, without `id`, which every table has.
    public var columns: [Column]
    /// Columns to index, each list one index.
    public var indexes: [[PropertyName]]

    /// A table with those columns.
    public init(_ name: String, columns: [Column] = [], indexes: [[PropertyName]] = []) {
        self.name = name
        self.columns = columns
        self.indexes = indexes
    }

    /// The column of that name.
    public func column(_ name: PropertyName) -> Column? { columns.first { $0.name == name } }
}
