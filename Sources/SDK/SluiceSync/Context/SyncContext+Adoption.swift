package import SluiceBase
internal import SluiceWire

extension SyncContext {
    /// Stores an adoption in one transaction, while nobody else synchronises the store.
    ///
    /// - Returns: the time at which the store took the same content before; nil where it took it now.
    /// - Throws: ``SluiceError`` of code `recordExists` or `operationsPending` for tables that are in use here,
    ///   `operationRefused` for changes of a table that stays on this machine, `invalidRecord` for content that no
    ///   context would make; of the store. Nothing is stored then.
    package func adopt(_ adoption: StoreAdoption) async throws -> Timestamp? {
        let (dialect, environment) = (dialect, options.environment)
        return try await exclusively(seesAll: true) { [options] store in
            try await store.write(at: .schema, environment) { writer in
                if let note = try writer.record(RecordID(adoption.name), in: MigrationNote.schema.name) {
                    return note["at"]?.string.flatMap { Timestamp($0) } ?? Timestamp(ticks: 0)
                }
                try AdoptionWriter(writer, adoption, dialect, user: options.user).write()
                try MigrationNote.put(adoption.name, at: environment.now(), in: writer)
                return nil
            }
        }
    }
}
