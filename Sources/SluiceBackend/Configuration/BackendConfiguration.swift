public import SluiceCore

/// What a backend serves: a database, and the tables in it.
///
/// ```swift
/// let configuration = BackendConfiguration(database: .memory, tables: [.init("todos")])
/// ```
public struct BackendConfiguration: Sendable, Hashable {
    /// Where the records are kept.
    public enum Database: Sendable, Hashable {
        /// A SQLite file; it is made if it is not there, its directory is not.
        case sqlite(path: String)
        /// In memory, for as long as the backend is open.
        case memory
    }

    /// A table's first records.
    public enum Seed: Sendable, Hashable {
        /// A JSON file with an array of records, or an object that holds one under `records`, `rows` or the table's
        /// name.
        case file(path: String)
        /// The records themselves.
        case records([JSON])
    }

    /// A table and the rules for it.
    public struct Table: Sendable, Hashable {
        /// The name in the path: letters, digits, `_` and `-`, beginning with a letter.
        public var name: String
        /// What the table holds when it is first made.
        public var seed: Seed?
        /// The most records in one answer.
        public var pageSize: Int
        /// The largest `$top` that is accepted.
        public var maxTop: Int
        /// Whether a delete keeps the record as a tombstone, which pulls need to hear of it.
        public var softDelete: Bool
        /// Columns with a type; without any, those that the seed shows. Other properties are kept all the same.
        public var columns: [TableSchema.Column]

        /// A table.
        public init(
            _ name: String, seed: Seed? = nil, pageSize: Int = 100, maxTop: Int = 128_000, softDelete: Bool = true,
            columns: [TableSchema.Column] = []
        ) {
            self.name = name
            self.seed = seed
            self.pageSize = pageSize
            self.maxTop = maxTop
            self.softDelete = softDelete
            self.columns = columns
        }
    }

    /// Where the records are kept.
    public var database: Database
    /// The tables.
    public var tables: [Table]

    /// A configuration.
    public init(database: Database = .memory, tables: [Table] = []) {
        self.database = database
        self.tables = tables
    }

    /// Checks names and bounds.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` or `invalidTable`.
    func validate() throws(SluiceError) {
        var names: Set<String> = []
        for table in tables {
            guard Self.isTableName(table.name) else {
                throw SluiceError(
                    .invalidTable,
                    "a table's name is 1 to 100 letters, digits, _ and -, begins with a letter, and not with sqlite_ "
                        + "or sluice_", table: table.name)
            }
            guard names.insert(table.name.lowercased()).inserted else {
                throw SluiceError(.invalidTable, "two tables have this name", table: table.name)
            }
            guard table.pageSize > 0, table.pageSize <= 128_000 else {
                throw SluiceError(.invalidArgument, "pageSize is 1 to 128000", table: table.name)
            }
            guard table.maxTop > 0 else {
                throw SluiceError(.invalidArgument, "maxTop is at least 1", table: table.name)
            }
            for column in table.columns where SystemColumn.all.contains(column.name) || column.name == "id" {
                throw SluiceError(.invalidTable, "the column \(column.name) is the server's own", table: table.name)
            }
        }
    }

    private static func isTableName(_ name: String) -> Bool {
        let isWord = { (byte: UInt8) in
            (0x41...0x5A).contains(byte & 0xDF) || (0x30...0x39).contains(byte) || byte == 0x5F || byte == 0x2D
        }
        let folded = name.lowercased()
        guard let first = name.utf8.first, (0x41...0x5A).contains(first & 0xDF), name.utf8.count <= 100 else {
            return false
        }
        return name.utf8.allSatisfy(isWord) && !folded.hasPrefix("sqlite_") && !folded.hasPrefix("sluice_")
    }
}
