public import SluiceBase
public import SluiceSync
internal import SluiceWire

/// The failed changes, as a set that can be queried, with the means to resolve each by itself.
///
/// ```swift
/// for error in try await offline.errors.all() { print(error.requestAddress, error.status ?? 0, error.message) }
/// let refused = try await offline.read("ErrorArchive?$filter=HTTPStatusCode eq 422")
/// ```
///
/// An entry is an operation of the queue that waits for a decision. Each decision affects one entry and no other: later
/// edits of the same record stay on top of it. An entry leaves the archive when its operation is discarded, or sent
/// again with success.
public struct ErrorArchive: Sendable {
    /// The name of the set.
    public static let name = "ErrorArchive"

    let context: SyncContext

    /// Returns all entries, in the order in which their operations were created.
    public func all() async throws -> [ArchivedError] {
        var errors: [ArchivedError] = []
        for operation in try await context.queue.operations(TableOperation.Filter(states: [.parked, .dead])) {
            errors.append(try await entry(operation))
        }
        return errors
    }

    /// Returns the entry of an operation.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an id that is not in the archive.
    public func error(_ id: String) async throws -> ArchivedError {
        guard let operation = try await context.queue.operation(id),
            operation.state == .parked || operation.state == .dead
        else { throw SluiceError(.invalidArgument, "there is no such entry in the archive", operationID: id) }
        return try await entry(operation)
    }

    /// Discards a change: the record gets the service's last known state, with later edits on top. A group is discarded
    /// as a whole, since it can only be applied as a whole.
    public func discard(_ id: String) async throws {
        let entry = try await error(id)
        try await context.queue.discard(id, revision: entry.operation.revision)
    }

    /// Replaces the body of a request; the next upload sends it.
    ///
    /// - Parameters:
    ///   - id: the request.
    ///   - record: the whole record after the request.
    public func edit(_ id: String, to record: JSON) async throws {
        let entry = try await error(id)
        if entry.isConflict, entry.operation.state == .parked {
            return try await context.queue.resolve(id, .replace(record), revision: entry.operation.revision)
        }
        try await context.queue.edit(id, to: record, revision: entry.operation.revision)
    }

    /// Merges changes into a request, on top of its own changes and of the service's record if there is a newer one;
    /// the next upload sends it.
    ///
    /// - Parameters:
    ///   - id: the request.
    ///   - changes: the properties to set.
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

    /// Sends a request again unchanged with the next upload.
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

/// A failed change: the operation, the last sent request, and the answer.
public struct ArchivedError: Sendable, Hashable, Identifiable {
    /// The operation, which waits in the queue for a decision.
    public let operation: TableOperation
    /// The record as the application sees it; nil if it was deleted locally.
    public let affectedEntity: JSON?
    /// The last sent body: as it went over the wire, in the service's own form. Before the first send, the record as it
    /// would be sent. Null for a delete, and for a body that was no JSON.
    public let requestBody: JSON
    /// Whether the request was sent at least once.
    public let wasSent: Bool

    /// The operation's id.
    public var id: String { operation.id }
    /// The method of the last sent request (v2's updates are `MERGE`); before the first send, that of its kind.
    public var requestMethod: String {
        if let request = operation.failure?.request { return request.method }
        return switch operation.kind {
        case .insert, .undelete: "POST"
        case .update: "PATCH"
        case .delete: "DELETE"
        }
    }
    /// The address of the last sent request below the service's root: `Orders(5)`, `tables/orders/5`. Before the first
    /// send, that of the record in a store.
    public var requestAddress: String {
        if let request = operation.failure?.request { return request.address }
        if operation.kind == .insert { return operation.table }
        return "\(operation.table)('\(operation.recordID.text.replacing("'", with: "''"))')"
    }
    /// The status of the answer; nil if there was none.
    public var status: Int? { operation.failure?.status }
    /// The reason's code.
    public var code: String { operation.failure?.code ?? "" }
    /// The reason, for a person.
    public var message: String { operation.failure?.message ?? "" }
    /// Whether the service's record differs from the one that was changed, so that ``ErrorArchive/merge(_:_:)`` has
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
