package import SluiceBase

/// The records that the synchronised store has from the server, for adapters that find a row by more than its id.
package enum KnownRecords {
    /// Reads the newest record that came from the server, by table and id; nil outside of a push, a pull and the like.
    @TaskLocal package static var read: (@Sendable (_ table: String, RecordID) async throws -> JSON?)?
}
