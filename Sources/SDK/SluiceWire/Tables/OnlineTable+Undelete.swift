public import SluiceBase

extension OnlineTable {
    /// Brings a deleted record back, in a table that keeps deleted records.
    ///
    /// - Parameter version: the version that the deleted record must still have, if any.
    /// - Returns: the server's record.
    /// - Throws: see ``OnlineTable``; `invalidRecord` for an integer id, since such tables keep no deleted records.
    @discardableResult
    public func undelete(
        id: some RecordIDConvertible, version: String? = nil, parameters: SyncRequest.Parameters = [:]
    ) async throws -> Record {
        try await undelete(try validated(id), version, parameters)
    }

    /// Brings a deleted record back in the server's state, if it still has the version that `record` has.
    ///
    /// - Returns: the server's record.
    /// - Throws: as ``undelete(id:version:parameters:)``.
    @discardableResult
    public func undelete(_ record: Record, parameters: SyncRequest.Parameters = [:]) async throws -> Record {
        let (id, record) = try identified(record)
        return try await undelete(id, record[dialect.columns.version]?.string, parameters)
    }

    private func undelete(
        _ id: RecordID, _ version: String?, _ parameters: SyncRequest.Parameters
    ) async throws -> Record {
        guard case .string = id else {
            throw TableRules.refusal("only records with text ids can be brought back", name, id)
        }
        var whole: JSON?
        var version = version
        if dialect.undelete == .put {
            // The wire brings a record back by a PUT of the whole record, so it has to be read first. The version
            // ensures that it is unchanged since.
            let found = try await document(id, includeDeleted: true, parameters)
            whole = found
            version = version ?? found[dialect.columns.version]?.string
        }
        let request = dialect.undelete(
            table: name, id: id, record: whole, version: version, endpoint: client.endpoint)
        return try await changed(request, parameters, sent: whole ?? JSON(members: [(dialect.columns.id, JSON(id))]))
    }
}
