public import SluiceBase
public import SluiceWire

/// A conflict whose records are values of a type.
public struct TypedConflict<Record: Codable & Sendable>: Sendable {
    /// The conflict with its untyped records.
    public let untyped: Conflict
    /// The record as the application has it; nil where it was deleted here.
    public let client: Record?
    /// The record as the server has it; nil where the server has none.
    public let server: Record?
    /// The server's record on which the local change was made; nil for an insert.
    public let base: Record?
    private let coder: RecordCoder<Record>

    fileprivate init(_ conflict: Conflict) throws(SluiceError) {
        let records = [conflict.client, conflict.server, conflict.base]
        let coder = RecordCoder<Record>(conflict.table, asIn: records.compactMap(\.self))
        func value(_ document: JSON?, isServers: Bool) throws(SluiceError) -> Record? {
            guard let document else { return nil }
            return try coder.decode(document, isServers: isServers)
        }
        untyped = conflict
        self.coder = coder
        client = try value(conflict.client, isServers: false)
        server = try value(conflict.server, isServers: true)
        base = try value(conflict.base, isServers: true)
    }

    /// Returns the decision to store and send `record`. A property that it leaves at the base's value takes the value
    /// of the side that changed it, or the server's where both did. The same holds for properties that the type does
    /// not declare.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` where the type writes no JSON object.
    public func merge(_ record: Record) throws(SluiceError) -> ConflictDecision {
        var merged = untyped.merged(preferring: .server) ?? untyped.server ?? untyped.client ?? .object
        let records = [untyped.base, untyped.server, untyped.client].compactMap(\.self)
        let document = try coder.encode(record, unchangedFrom: records)
        for (name, value) in document.withoutNulls(notIn: merged).members ?? [] { merged[name] = value }
        return .merge(merged)
    }

    /// Returns the decision to store and send the merge of both records, with the changes that `change` makes to it:
    /// `try conflict.merge { $0.done = true }`. In the merge each property has the value of the side that changed it,
    /// and where both did that of `side`. The next handler is asked if one side deleted the record.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` where the merge does not fit the type; the closure's error.
    public func merge(
        preferring side: FieldMerge.Side = .client, _ change: (inout Record) throws -> Void
    ) throws -> ConflictDecision {
        guard var merged = untyped.merged(preferring: side) else { return .next }
        var record = try coder.decode(merged)
        try change(&record)
        let document = try coder.encode(record, unchangedFrom: [merged])
        for (name, value) in document.withoutNulls(notIn: merged).members ?? [] { merged[name] = value }
        return .replace(merged)
    }
}

/// Handlers of the conflicts of one table, whose records are values of a type.
///
/// ```swift
/// options.conflictHandlers.append(ConflictClosure(Todo.self) { conflict in
///     try conflict.merge { $0.done = conflict.client?.done == true || conflict.server?.done == true }
/// })
/// ```
///
/// A record that does not fit the type makes the operation held, with the reason.
extension ConflictClosure {
    /// Asks `body` about conflicts in the table of that name.
    public init<Record: Codable & Sendable>(
        _ table: String, of type: Record.Type,
        _ body: @escaping @Sendable (TypedConflict<Record>) async throws -> ConflictDecision
    ) {
        self.init(tables: [table]) { try await body(try TypedConflict($0)) }
    }

    /// Asks `body` about conflicts in the table that the type's records are in.
    public init<Record: SyncRecord>(
        _ type: Record.Type, _ body: @escaping @Sendable (TypedConflict<Record>) async throws -> ConflictDecision
    ) {
        self.init(type.tableName, of: type, body)
    }
}
