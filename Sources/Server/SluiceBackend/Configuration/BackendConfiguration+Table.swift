public import SluiceCore

extension BackendConfiguration {
    /// A table and the rules for it.
    ///
    /// ```swift
    /// var notes = BackendConfiguration.Table("notes", columns: [.init("owner", .string), .init("text", .string)])
    /// notes.perUser = "owner"
    /// notes.view = try QueryExpression(odata: "text ne null")
    /// ```
    public struct Table: Sendable, Hashable {
        /// The name in the path: letters, digits, `_` and `-`, beginning with a letter.
        public var name: String
        /// The column of the primary key of a table of the operator's, which
        /// ``Backend/adopt(_:of:isDryRun:environment:)`` has adopted; nil for a table of the backend's own.
        public var key: String?
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
        /// What kind of ids the records have.
        public var ids: IDs
        /// Who may do what.
        public var access: TableAccess
        /// The status for a request without a user where one is needed: 400 to 499.
        public var unauthorizedStatus: Int
        /// The column that holds the user to whom a record belongs; users see and change their own records only. Every
        /// operation that is not disabled then needs a user.
        public var perUser: PropertyName?
        /// Which records there are, for requests: others are as if they were not there.
        public var view: QueryExpression?
        /// How long after its creation a record is gone from every answer, and a tombstone after its delete; nil for
        /// ever. The next sweep makes a tombstone of such a record, or removes it where the table keeps none.
        public var recordsExpire: Duration?
        /// How long after its delete a tombstone is removed; nil means ``recordsExpire``. A client that was away for
        /// longer does not hear of the delete.
        public var tombstonesExpire: Duration?
        /// The tables that the records refer to, by columns of their own.
        public var references: [Reference] = []

        /// A table. Without `access`, everyone may do everything, or every user where the table has `perUser`.
        public init(
            _ name: String, seed: Seed? = nil, pageSize: Int = 100, maxTop: Int = 128_000, softDelete: Bool = true,
            columns: [TableSchema.Column] = [], ids: IDs = .string, access: TableAccess? = nil,
            unauthorizedStatus: Int = 401,
            perUser: PropertyName? = nil, view: QueryExpression? = nil, recordsExpire: Duration? = nil,
            tombstonesExpire: Duration? = nil
        ) {
            self.name = name
            self.seed = seed
            self.pageSize = pageSize
            self.maxTop = maxTop
            self.softDelete = softDelete
            self.columns = columns
            self.ids = ids
            self.access = access ?? (perUser == nil ? .anonymous : .authenticated)
            self.unauthorizedStatus = unauthorizedStatus
            self.perUser = perUser
            self.view = view
            self.recordsExpire = recordsExpire
            self.tombstonesExpire = tombstonesExpire
        }

        /// What kind of ids a table's records have.
        public enum IDs: String, Sendable, Hashable, CaseIterable {
            /// Texts, which clients may make.
            case string
            /// Integers, which only the server makes, as in the older tables of the first two generations. Clients
            /// of these see numbers, others the same as texts.
            case integer
        }

        /// The declared columns, those of the owner and of references where they need no declaration, and the hidden ones.
        var storedColumns: [TableSchema.Column] {
            var stored = columns
            if columns.isEmpty {
                var names = perUser.map { [$0] } ?? []
                for reference in references where !names.contains(reference.column) { names.append(reference.column) }
                stored = names.map { .init($0, .string) }
            }
            if ids == .integer { stored.append(.init(SystemColumn.number, .integer)) }
            if view != nil { stored.append(.init(SystemColumn.left, .date)) }
            return stored
        }
    }
}
