public import SluiceBase
internal import SluiceWire

extension SyncContext {
    /// The rows that the server has sent and that could not be stored; of one table, or of all.
    public func quarantine(table: String? = nil) async throws -> [QuarantinedRow] {
        let filter = table.map { QueryExpression.binary(.eq, .column("table"), .literal(.string($0))) }
        return try await store.read {
            try $0.records(matching: Query(QuarantinedRow.schema.name, filter: filter))
                .compactMap(QuarantinedRow.init(record:))
        }
    }

    /// Forgets entries of the quarantine, once they have been looked at.
    public func removeFromQuarantine(_ ids: [QuarantinedRow.ID]) async throws {
        try await store.write { try $0.delete(ids, from: QuarantinedRow.schema.name) }
    }
}
