public import SluiceBase
internal import SluiceWire

extension LocalStore {
    /// Checks that the engine's data in the store is consistent: operations and their records, bases, cursors and the
    /// rows of their queries. It does not check the store's file.
    ///
    /// ```swift
    /// for problem in try await store.checkConsistency() { print(problem) }
    /// ```
    ///
    /// - Throws: ``SluiceError`` where the store cannot be read.
    public func checkConsistency() async throws -> [StoreProblem] {
        try await read { try StoreConsistency.problems(in: $0) }
    }
}

/// The checks, in one transaction.
package struct StoreConsistency {
    private let reader: any StoreReader
    private var problems: [StoreProblem] = []
    /// The records with operations, by the ids of their states.
    private var waiting: Set<RecordID> = []

    private init(_ reader: any StoreReader) { self.reader = reader }

    /// Returns the inconsistencies.
    package static func problems(in reader: any StoreReader) throws -> [StoreProblem] {
        var check = StoreConsistency(reader)
        try check.lookAtQueue()
        try check.lookAtBases()
        try check.lookAtCursors()
        return check.problems
    }

    private func rows(_ schema: TableSchema) throws -> [JSON] { try reader.records(matching: TableQuery(schema.name)) }

    private mutating func lookAtQueue() throws {
        var records: [RecordID: [TableOperation]] = [:]
        var places: Set<Int64> = []
        for row in try rows(TableOperation.schema) {
            guard let operation = try? TableOperation(record: row) else {
                problems.append(
                    StoreProblem(.unreadable, "an operation cannot be read", operationID: row["id"]?.string))
                continue
            }
            records[RecordState.id(operation.table, operation.recordID), default: []].append(operation)
            if !places.insert(operation.sequence).inserted {
                note(.doubled, "another operation has its place in the queue", operation)
            }
        }
        waiting = Set(records.keys)
        for (_, operations) in records.sorted(by: { $0.key.text < $1.key.text }) {
            try look(at: operations.sorted { $0.sequence < $1.sequence })
        }
    }

    private mutating func look(at operations: [TableOperation]) throws {
        guard let first = operations.first, let last = operations.last else { return }
        let isThere = try reader.record(last.recordID, in: last.table) != nil
        switch last.kind {
        case .insert, .update: if !isThere { note(.orphanedOperation, "the record it changes is not there", last) }
        case .delete: if isThere { note(.orphanedOperation, "the record it deletes is still there", last) }
        case .undelete: break
        }
        let state = try reader.record(RecordState.id(first.table, first.recordID), in: RecordState.schema.name)
        // A delete that replaced an insert has no base.
        let wasInsert = first.kind == .delete && first.attempts > 0
        // A change that was rescued without its base is parked with that reason.
        let isRescued = first.state == .parked && first.failure?.reason == .storeCorrupt
        if first.kind != .insert, !wasInsert, state == nil, !isRescued {
            note(.missingBase, "what it was made on is not kept", first)
        }
    }

    private mutating func lookAtBases() throws {
        for row in try rows(RecordState.schema) {
            guard let state = try? RecordState(record: row) else {
                problems.append(StoreProblem(.unreadable, "a base cannot be read", recordID: row["id"]?.textID))
                continue
            }
            if waiting.contains(RecordState.id(state.table, state.recordID)) { continue }
            // A record that a hook keeps on this machine only has a note without a copy.
            let isNote = state.base == nil && state.mirror == nil
            guard try !isNote || reader.record(state.recordID, in: state.table) == nil else { continue }
            problems.append(
                StoreProblem(
                    .orphanedBase, "a base is kept, and no change of the record waits", table: state.table,
                    recordID: state.recordID))
        }
    }

    private mutating func lookAtCursors() throws {
        var keys: Set<Int64> = []
        for row in try rows(Cursor.schema) {
            guard let cursor = Cursor(record: row) else {
                problems.append(StoreProblem(.unreadable, "a cursor cannot be read", recordID: row["id"]?.textID))
                continue
            }
            // A query of a whole table notes no rows, so its cursor needs no number of its own. It may have one from
            // an earlier query of a part.
            if !cursor.isOfAll || cursor.key != 0, !keys.insert(cursor.key).inserted {
                problems.append(
                    StoreProblem(.doubled, "two queries have the number \(cursor.key)", table: cursor.owner.table))
            }
        }
        let unknown = try rows(Membership.schema).filter { row in
            let key = (row["id"]?.string ?? "").prefix { $0 != "/" }
            return Int64(key).map { !keys.contains($0) } ?? true
        }
        if let first = unknown.first {
            problems.append(
                StoreProblem(
                    .orphanedMember, "queries that nobody knows hold \(unknown.count.counted("row"))",
                    recordID: first["id"]?.textID))
        }
    }

    private mutating func note(_ kind: StoreProblem.Kind, _ message: String, _ operation: TableOperation) {
        problems.append(
            StoreProblem(
                kind, message, table: operation.table, recordID: operation.recordID, operationID: operation.id))
    }
}

/// An inconsistency in a store: its kind and its place.
public struct StoreProblem: Sendable, Hashable, CustomStringConvertible, JSONPrinted {
    /// The kind of inconsistency.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Encodable {
        /// The file is damaged.
        case damagedFile
        /// A record cannot be read, although the file is whole.
        case unreadable
        /// An operation waits for a missing record, or for a deleted record that is still there.
        case orphanedOperation
        /// An operation waits without the base that it was made on.
        case missingBase
        /// A base is kept without an operation.
        case orphanedBase
        /// Two operations have one place in the queue, or two cursors one number.
        case doubled
        /// A row is held by an unknown query.
        case orphanedMember
    }

    /// The kind of inconsistency.
    public var kind: Kind
    /// The finding, in a sentence.
    public var message: String
    /// The table concerned.
    public var table: String?
    /// The record concerned.
    public var recordID: RecordID?
    /// The operation concerned.
    public var operationID: String?

    private enum CodingKeys: String, CodingKey {
        case kind, message, table, recordID = "record", operationID = "operation"
    }

    /// A problem.
    public init(
        _ kind: Kind, _ message: String, table: String? = nil, recordID: RecordID? = nil, operationID: String? = nil
    ) {
        self.kind = kind
        self.message = message
        self.table = table
        self.recordID = recordID
        self.operationID = operationID
    }

    /// The kind, the record and the sentence.
    public var description: String {
        let record = [table, recordID?.text].compactMap(\.self).joined(separator: "/")
        return record.isEmpty ? "\(kind.rawValue): \(message)" : "\(kind.rawValue): \(record): \(message)"
    }
}
