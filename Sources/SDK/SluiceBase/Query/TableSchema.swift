/// A table's columns, as its user declares them.
///
/// A declared column has typed storage of its own, which queries and other tools use directly. All other properties of
/// a record are stored too, and can be queried; so a table need not be declared at all.
public struct TableSchema: Sendable, Hashable {
    /// A declared column.
    public struct Column: Sendable, Hashable {
        /// The property's name.
        public var name: PropertyName
        /// The type of its values.
        public var type: ColumnType

        /// A column.
        public init(_ name: PropertyName, _ type: ColumnType) {
            self.name = name
            self.type = type
        }
    }

    /// The type of a column's values. A value of another type is still stored exactly.
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

    /// A link from a record to records of another table: a navigation property.
    public struct Reference: Sendable, Hashable {
        /// The navigation property's name.
        public var name: PropertyName
        /// The other table.
        public var table: String
        /// The property here with the linked value.
        public var column: PropertyName
        /// The property of the other table with the same value.
        public var targetColumn: PropertyName
        /// Whether it leads to any number of records rather than to at most one.
        public var isCollection: Bool
        /// Whether the linked value is a key that the service assigns. Until it is known, records that refer to the
        /// record hold its local id instead.
        public var isAssigned = false

        /// Creates a link to the record of `table` whose id, or `targetColumn`, is in `column`.
        public init(
            _ name: PropertyName, to table: String, by column: PropertyName, targetColumn: PropertyName = "id",
            isAssigned: Bool = false
        ) {
            self.isAssigned = isAssigned
            (self.name, self.table, self.column) = (name, table, column)
            (self.targetColumn, isCollection) = (targetColumn, false)
        }

        /// Creates a link to the records of `table` that hold this record's id, or its value of `column`, in
        /// `targetColumn`.
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
    /// The navigation properties, which queries may follow if the other tables are available.
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

    /// Returns the navigation property of that name.
    public func reference(_ name: PropertyName) -> Reference? { references.first { $0.name == name } }

    /// Returns the column of that name.
    public func column(_ name: PropertyName) -> Column? { columns.first { $0.name == name } }
}

extension TableSchema {
    /// Reads columns and indexes from the members of a table's settings.
    ///
    /// ```yaml
    /// columns: { title: string, year: integer }
    /// indexes: [year, [rating, title]]
    /// ```
    package init<Source>(_ name: String, _ members: [String: StrictValue<Source>]) throws(SluiceError) {
        self.init(name)
        if let place = members["columns"] { columns = try Self.columns(place) }
        indexes = try members["indexes"]?.lists().map { $0.map { PropertyName($0) } } ?? []
    }

    /// Reads columns: a type for each name.
    package static func columns(_ place: StrictValue<some StrictSource>) throws(SluiceError) -> [Column] {
        var columns: [Column] = []
        for (name, type) in try place.entries() {
            columns.append(Column(PropertyName(name), try type.choice(ColumnType.self)))
        }
        return columns
    }
}
