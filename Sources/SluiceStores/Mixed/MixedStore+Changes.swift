public import SluiceBase
public import SluiceSync

extension MixedStore {
    /// Creates a record: in the queue where the device holds records of the table by a defining request, else at the
    /// service.
    @discardableResult
    public func create(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try await writer(of: table, nil).create(record, in: table, options: options)
    }

    /// Changes a record: in the queue where it is on the device, else at the service.
    @discardableResult
    public func patch(_ changes: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try await writer(of: table, changes["id"]?.textID).patch(changes, in: table, options: options)
    }

    /// Replaces a record: in the queue where it is on the device, else at the service.
    @discardableResult
    public func replace(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try await writer(of: table, record["id"]?.textID).replace(record, in: table, options: options)
    }

    /// Deletes a record: in the queue where it is on the device, else at the service.
    public func delete(
        _ id: RecordID, version: String?, in table: String, options: OperationOptions
    ) async throws {
        try await writer(of: table, id).delete(id, version: version, in: table, options: options)
    }

    /// Calls the service.
    public func call(_ operation: OperationCall) async throws -> JSON {
        try await MixedReader(used: used, schemas: schemas, uncovered: uncovered).value(of: operation).0
    }

    /// Reads a media stream from the service.
    public func media(_ address: String) async throws -> [UInt8] {
        switch used {
        case .none: throw Self.unopened
        case .online(let store): return try await store.media(address)
        case .offline(let store): return try await store.media(address)
        case .both(let online, let offline):
            guard online.isOpen else { return try await offline.media(address) }
            return try await MixedReader.reaching(address) { try await online.media(address) }
        }
    }

    /// The store that a change goes to.
    ///
    /// - Parameter id: the record that is changed; nil for one that is made.
    private func writer(of table: String, _ id: RecordID?) async throws -> any DataStore {
        switch used {
        case .none: throw Self.unopened
        case .online(let store): return store
        case .offline(let store): return store
        case .both(let online, let offline):
            guard offline.isOpen else { return online }
            guard online.isOpen else { return offline }
            let name = schemas.spelled(table)
            if let id {
                // A record with waiting changes has its next change go after them.
                let waits = try await offline.context.queue.count(QueueFilter(table: name, recordID: id)) > 0
                let isHere = try await offline.context.store.read { try $0.record(id, in: name) != nil }
                return waits || isHere ? offline : online
            }
            let isHeld = try await offline.requests().contains { $0.parts.contains { $0.table == name } }
            return isHeld ? offline : online
        }
    }
}
