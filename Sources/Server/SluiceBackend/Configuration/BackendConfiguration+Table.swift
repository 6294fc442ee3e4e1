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
        /// The primary key column of an operator's table, adopted by ``Backend/adopt(_:of:isDryRun:environment:)``; nil
        /// for a table of the backend's own.
        public var key: String?
        /// The first records of a new table.
        public var seed: Seed?
        /// The most records in one answer.
        public var pageSize: Int
        /// The largest `$top` that is accepted.
        public var maxTop: Int
        /// Whether a delete keeps the record as a tombstone, so that pulls learn of it.
        public var softDelete: Bool
        /// The typed columns; if empty, they are inferred from the seed. Other properties are kept without a column.
        public var columns: [TableSchema.Column]
        /// The kind of the records' ids.
        public var ids: IDs
        /// The required access level of each operation.
        public var access: TableAccess
        /// The status for a request that lacks a required user: 400 to 499.
        public var unauthorizedStatus: Int
        /// The column of a record's owner; users see and change their own records only. Every enabled operation then
        /// needs a user.
        public var perUser: PropertyName?
        /// The condition on the records that requests see; all others seem not to exist.
        public var view: QueryExpression?
        /// The time from a record's creation, or a tombstone's delete, until it disappears from answers; nil means
        /// never. The next sweep turns an expired record into a tombstone, or removes it if the table keeps none.
        public var recordsExpire: Duration?
        /// The time from a delete until its tombstone is removed; nil means ``recordsExpire``. A client that was away
        /// for longer does not learn of the delete.
        public var tombstonesExpire: Duration?
        /// The references of the records to other tables.
        public var references: [Reference] = []

        /// Creates a table's rules. Without `access`, all operations are open to everyone, or to every user if the
        /// table has `perUser`.
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

        /// The kind of a table's ids.
        public enum IDs: String, Sendable, Hashable, CaseIterable {
            /// Texts; clients may choose them.
            case string
            /// Integers assigned by the server, as in the older tables of the first two generations. Clients of these
            /// generations see numbers, all others texts.
            case integer
        }

        /// The declared columns, the undeclared ones of the owner and of references, and the hidden ones.
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
