package import SluiceBase

/// The records that the synchronised store has from the server, for adapters that find a row by more than its id.
package protocol KnownRecords: Sendable {
    /// Returns the newest record that came from the server; nil for none.
    func record(_ id: RecordID, in table: String) async throws -> JSON?
}

/// The store of the push or the pull that a task is part of.
package enum SynchronisedStore {
    /// Its records; nil outside of a push, a pull and the like.
    @TaskLocal package static var records: (any KnownRecords)?
}
