internal import HTTPTypes
internal import SluiceCore

/// The records of a table that a request may see and touch: the others are as if they were not there.
///
/// The filter belongs into every query, in lists, counts and reads by id alike, so that the database decides.
struct RowScope: Sendable {
    /// Which records; nil means all.
    private(set) var filter: QueryExpression?
    /// Whether a hook has taken records away.
    private(set) var isNarrowedByHook = false
    /// The column of the owner, and who that is.
    private let owner: (column: PropertyName, user: String)?

    /// The table's view, the user's own records, and what has not expired at `now`.
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
            let border = Timestamp(ticks: now.ticks - ExpiryInterval.ticks(interval))
            // Tombstones stay visible, so that clients learn of deletions.
            narrow(
                to: .binary(
                    .or, .binary(.eq, .column(SystemColumn.deleted), .literal(.bool(true))),
                    .binary(.gt, .column(SystemColumn.createdAt), .literal(.date(border)))))
        }
    }

    /// The user's own records, whatever the table's view says of them; nil means all.
    var owned: QueryExpression? {
        owner.map { .binary(.eq, .column($0.column), .literal(.string($0.user))) }
    }

    /// Takes away what does not match.
    mutating func narrow(to condition: QueryExpression?) {
        guard let condition else { return }
        filter = filter.map { .binary(.and, $0, condition) } ?? condition
    }

    /// The scope without what does not match.
    func narrowed(to condition: QueryExpression?) -> RowScope {
        var scope = self
        scope.narrow(to: condition)
        return scope
    }

    /// The scope without what a hook hides.
    func narrowed(byHook condition: QueryExpression?) -> RowScope {
        var scope = narrowed(to: condition)
        if condition != nil { scope.isNarrowedByHook = true }
        return scope
    }

    /// The client's filter within the scope.
    func applied(to filter: QueryExpression?) -> QueryExpression? {
        guard let filter else { return self.filter }
        return self.filter.map { .binary(.and, $0, filter) } ?? filter
    }

    /// The record as the user's own, whatever it says: before it is put, on insert as on update.
    func stamped(_ record: JSON) -> JSON {
        guard let owner else { return record }
        var record = record
        record[owner.column] = JSON(owner.user)
        return record
    }

    /// The refusal of an insert with the id of a record outside the scope. It does not say what is there.
    static var idTaken: Refusal { Refusal(.badRequest, .nothing) }
}

extension BackendTable {
    /// The record with that id, if it is one of those; the database decides.
    func record(_ id: RecordID, in scope: RowScope, _ connection: any StorageConnection) throws -> JSON? {
        guard let filter = scope.filter else { return try record(id, connection) }
        let isIt = QueryExpression.binary(.eq, .column("id"), .literal(.id(id)))
        let query = Query(name, filter: .binary(.and, isIt, filter), top: 1)
        return try records(matching: query, connection).first
    }

    /// The record that an insert with that id meets.
    ///
    /// - Throws: ``Refusal`` (400, without a body) where the record is outside the scope.
    func obstacle(_ id: RecordID, in scope: RowScope, _ connection: any StorageConnection) throws -> JSON? {
        if let record = try record(id, in: scope, connection) { return record }
        if scope.filter != nil, try record(id, connection) != nil { throw RowScope.idTaken }
        return nil
    }
}
