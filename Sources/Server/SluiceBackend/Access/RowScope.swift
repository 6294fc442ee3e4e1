internal import HTTPTypes
internal import SluiceCore

/// The records of a table that a request may see and change; all others seem not to exist.
///
/// Every query applies the filter: lists, counts and reads by id, so that the database decides.
struct RowScope: Sendable {
    /// The condition on the records; nil for all.
    private(set) var filter: QueryExpression?
    /// Whether a hook has narrowed the scope.
    private(set) var isNarrowedByHook = false
    /// The owner's column, and the user.
    private let owner: (column: PropertyName, user: String)?

    /// Creates the scope from the table's view, the user's own records, and their expiry at `now`.
    init(_ rules: BackendConfiguration.Table, _ principal: Principal?, now: Timestamp) {
        filter = rules.view
        if let column = rules.perUser, let principal {
            owner = (column, principal.user)
            narrow(to: .binary(.eq, .column(column), .literal(.string(principal.user))))
        } else {
            owner = nil
            // Without a user no record is visible.
            if rules.perUser != nil { filter = .literal(.bool(false)) }
        }
        if let interval = rules.recordsExpire {
            let border = now.advanced(by: .zero - interval)
            // Tombstones stay visible, so that clients learn of deletions.
            narrow(
                to: .binary(
                    .or, .binary(.eq, .column(SystemColumn.deleted), .literal(.bool(true))),
                    .binary(.gt, .column(SystemColumn.createdAt), .literal(.date(border)))))
        }
    }

    /// The user's own records, inside the table's view or not; nil means all.
    var owned: QueryExpression? {
        owner.map { .binary(.eq, .column($0.column), .literal(.string($0.user))) }
    }

    /// Narrows the scope to the records that match.
    mutating func narrow(to condition: QueryExpression?) {
        guard let condition else { return }
        filter = filter.map { .binary(.and, $0, condition) } ?? condition
    }

    /// Returns the scope narrowed to the records that match.
    func narrowed(to condition: QueryExpression?) -> RowScope {
        var scope = self
        scope.narrow(to: condition)
        return scope
    }

    /// Returns the scope narrowed by a hook's condition.
    func narrowed(byHook condition: QueryExpression?) -> RowScope {
        var scope = narrowed(to: condition)
        if condition != nil { scope.isNarrowedByHook = true }
        return scope
    }

    /// Returns the client's filter within the scope.
    func applied(to filter: QueryExpression?) -> QueryExpression? {
        guard let filter else { return self.filter }
        return self.filter.map { .binary(.and, $0, filter) } ?? filter
    }

    /// Returns the record with the user as its owner, for inserts and updates. The client's own value is ignored.
    func stamped(_ record: JSON) -> JSON {
        guard let owner else { return record }
        var record = record
        record[owner.column] = JSON(owner.user)
        return record
    }

    /// The refusal of an insert with the id of a record outside the scope. It does not reveal the existing record.
    static var idTaken: Refusal { Refusal(.badRequest, .nothing) }
}

extension BackendTable {
    /// Returns the record with that id if it is in the scope; the database decides.
    func record(_ id: RecordID, in scope: RowScope, _ connection: any StorageConnection) throws -> JSON? {
        guard let filter = scope.filter else { return try record(id, connection) }
        let isIt = QueryExpression.binary(.eq, .column("id"), .literal(.id(id)))
        let query = TableQuery(name, filter: .binary(.and, isIt, filter), top: 1)
        return try records(matching: query, connection).first
    }

    /// Returns the existing record with the id of an insert.
    ///
    /// - Throws: ``Refusal`` (400, without a body) if the record is outside the scope.
    func obstacle(_ id: RecordID, in scope: RowScope, _ connection: any StorageConnection) throws -> JSON? {
        if let record = try record(id, in: scope, connection) { return record }
        if scope.filter != nil, try record(id, connection) != nil { throw RowScope.idTaken }
        return nil
    }
}
