public import SluiceBase
public import SluiceSync
internal import SluiceWire

/// The changes that did not go through, as a set that can be queried, and the means to deal with each by itself.
///
/// ```swift
/// for error in try await offline.errors.all() { print(error.requestAddress, error.status ?? 0, error.message) }
/// let refused = try await offline.read("ErrorArchive?$filter=HTTPStatusCode eq 422")
/// ```
///
/// An entry is an operation of the queue that waits for a decision. Each decision is about one entry and touches no other:
/// edits of the same record that were made later stay on top of it. An entry leaves the archive when its operation is
/// discarded, or when it has been sent again with success.
public struct ErrorArchive: Sendable {
    /// The name of the set.
    public static let name = "ErrorArchive"

    let context: SyncContext

    /// All entries, in the order in which their operations were made.
    public func all() async throws -> [ArchivedError] {
        var errors: [ArchivedError] = []
        for operation in try await context.queue.operations(QueueFilter(states: [.parked, .dead])) {
            errors.append(try await entry(operation))
        }
        return errors
    }

    /// The entry of an operation.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an id that is not in the archive.
    public func error(_ id: String) async throws -> ArchivedError {
        guard let operation = try await context.queue.operation(id),
            operation.state == .parked || operation.state == .dead
        else { throw SluiceError(.invalidArgument, "there is no such entry in the archive", operationID: id) }
        return try await entry(operation)
    }

    /// Gives a change up: the record is again as the service last had it, with later edits on top. Of a group all is given
    /// up, since it can only arrive whole.
    public func discard(_ id: String) async throws {
        let entry = try await error(id)
        try await context.queue.discard(id, revision: entry.operation.revision)
    }

    /// Gives a request another body; the next upload sends it.
    ///
    /// - Parameter record: the whole record as the request is to make it.
    public func edit(_ id: String, to record: JSON) async throws {
        let entry = try await error(id)
        if entry.isConflict, entry.operation.state == .parked {
            return try await context.queue.resolve(id, .replace(record), revision: entry.operation.revision)
        }
        try await context.queue.edit(id, to: record, revision: entry.operation.revision)
    }

    /// Puts changes into a request, on top of what it changes already and of the service's record where there is a newer
    /// one; the next upload sends it.
    ///
    /// - Parameter changes: the properties to set.
    public func merge(_ id: String, _ changes: JSON = .object) async throws {
        let entry = try await error(id)
        let copies = try await context.queue.copies(of: entry.operation)
        guard let own = try await context.queue.body(of: entry.operation) else {
            throw SluiceError(
                .operationRefused, "a delete has no body to merge into; discard it or try it again",
                table: entry.operation.table, recordID: entry.operation.recordID, operationID: id)
        }
        var merged = own
        if entry.isConflict, let server = copies.mirror ?? entry.operation.failure?.serverRecord {
            let conflict = Conflict(
                operation: entry.operation, client: own, server: server, base: copies.base, maybeApplied: false,
                status: entry.operation.failure?.status ?? 0, isDeletedOnServer: false)
            merged = conflict.merged ?? own
        }
        for (name, value) in changes.members ?? [] where name != "id" { merged[name] = value }
        try await edit(id, to: merged)
    }

    /// Has the next upload try a request again as it is.
    public func retry(_ id: String) async throws {
        _ = try await error(id)
        try await context.queue.retry(id)
    }

    private func entry(_ operation: TableOperation) async throws -> ArchivedError {
        let local = try await context.queue.copies(of: operation).local
        let sent = operation.sent.last
        var body = operation.failure?.request?.body ?? sent?.final ?? .null
        if sent == nil, operation.kind != .delete { body = try await context.queue.body(of: operation) ?? .null }
        return ArchivedError(
            operation: operation, affectedEntity: local, requestBody: body, wasSent: operation.wasSent)
    }
}

/// A change that did not go through: the operation, the request as it was sent, and what was answered.
public struct ArchivedError: Sendable, Hashable, Identifiable {
    /// The operation, which waits in the queue for a decision.
    public let operation: TableOperation
    /// The record as the application sees it; nil where it was deleted here.
    public let affectedEntity: JSON?
    /// The body as it was sent last: as it went over the wire, in the service's own form. Where nothing was, the record as it
    /// would be sent. Null for a delete, and for what was no JSON.
    public let requestBody: JSON
    /// Whether the request went out at least once.
    public let wasSent: Bool

    /// The operation's id.
    public var id: String { operation.id }
    /// The method of the request as it was sent last (v2's updates are `MERGE`); where nothing was, that of its kind.
    public var requestMethod: String {
        if let request = operation.failure?.request { return request.method }
        return switch operation.kind {
        case .insert, .undelete: "POST"
        case .update: "PATCH"
        case .delete: "DELETE"
        }
    }
    /// The address of the request below the service's root, as it was sent last: `Orders(5)`, `tables/orders/5`. Where
    /// nothing was, that of the record in a store.
    public var requestAddress: String {
        if let request = operation.failure?.request { return request.address }
        if operation.kind == .insert { return operation.table }
        return "\(operation.table)('\(operation.recordID.text.replacing("'", with: "''"))')"
    }
    /// The status of the answer; nil where there was none.
    public var status: Int? { operation.failure?.status }
    /// The reason's code.
    public var code: String { operation.failure?.code ?? "" }
    /// The reason, for a person.
    public var message: String { operation.failure?.message ?? "" }
    /// Whether the service's record is another than the one that was changed, so that ``ErrorArchive/merge(_:_:)`` has
    /// something to merge with.
    public var isConflict: Bool {
        operation.failure?.serverRecord != nil || code == SluiceError.Code.conflict.description
    }

    /// The entry as a record of the set ``ErrorArchive/name``.
    var json: JSON {
        var record: JSON = [
            "id": JSON(id), "RequestID": JSON(operation.requestID), "RequestMethod": JSON(requestMethod),
            "RequestURL": JSON(requestAddress), "RequestBody": requestBody, "Code": JSON(code),
            "Message": JSON(message), "Table": JSON(operation.table), "RecordID": JSON(operation.recordID.text),
            "Kind": JSON(operation.kind.rawValue), "State": JSON(operation.state.rawValue),
            "Attempts": JSON(operation.attempts), "CreatedAt": JSON(operation.createdAt.description),
            "CustomTags": JSON(operation.tags.sorted().map { JSON($0) }), "AffectedEntity": affectedEntity ?? .null,
        ]
        record["HTTPStatusCode"] = status.map { JSON($0) } ?? .null
        record["ServerRecord"] = operation.failure?.serverRecord ?? .null
        record["CustomHeaders"] = operation.headers.document
        record["Group"] = operation.group.map { JSON($0) } ?? .null
        return record
    }
}
