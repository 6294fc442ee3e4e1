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

    /// A way from a record to records of another table: a navigation property.
    public struct Reference: Sendable, Hashable {
        /// The navigation property's name.
        public var name: PropertyName
        /// The other table.
        public var table: String
        /// The property here whose value the other records have.
        public var column: PropertyName
        /// The property there.
        public var targetColumn: PropertyName
        /// Whether it leads to any number of records rather than to one at the most.
        public var isCollection: Bool
        /// Whether the value that links is a key which the service assigns. Until it is known, the id that the record has
        /// here stands for it in the records that refer to it.
        public var isAssigned = false

        /// A way to the record of `table` whose id, or `targetColumn`, is in `column`.
        public init(
            _ name: PropertyName, to table: String, by column: PropertyName, targetColumn: PropertyName = "id",
            isAssigned: Bool = false
        ) {
            self.isAssigned = isAssigned
            (self.name, self.table, self.column) = (name, table, column)
            (self.targetColumn, isCollection) = (targetColumn, false)
        }

        /// A way to the records of `table` that have this record's id, or what is in `column`, in `targetColumn`.
        public init(
            _ name: PropertyName, toMany table: String, where targetColumn: PropertyName, column: PropertyName = "id",
            isAssigned: Bool = false
        ) {
            self.isAssigned = isAssigned
            (self.name, self.table, self.column) = (name, table, column)
            (self.targetColumn, isCollection) = (targetColumn, true)
        }
    }

    /// The table's name.
    public var name: String
    /// The columns, without `id`, which every table has.
    public var columns: [Column]
    /// Columns to index, each list one index.
    public var indexes: [[PropertyName]]
    /// The navigation properties, which queries may follow where the other tables can be asked too.
    public var references: [Reference]

    /// A table with those columns.
    public init(
        _ name: String, columns: [Column] = [], indexes: [[PropertyName]] = [], references: [Reference] = []
    ) {
        self.name = name
        self.columns = columns
        self.indexes = indexes
        self.references = references
    }

    /// The navigation property of that name.
    public func reference(_ name: PropertyName) -> Reference? { references.first { $0.name == name } }

    /// The column of that name.
    public func column(_ name: PropertyName) -> Column? { columns.first { $0.name == name } }
}
