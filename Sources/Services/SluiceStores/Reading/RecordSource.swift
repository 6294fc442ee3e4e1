internal import SluiceBase

/// The source of a read's records: the local store, the service, or the service overlaid with queued changes.
protocol RecordSource: Sendable {
    /// Returns the records that match, and their total number if the query requests it.
    func page(_ query: TableQuery) async throws -> RecordPage
    /// Returns the record with that id.
    func record(_ id: RecordID, in table: String) async throws -> JSON?
    /// Whether this device holds the record, perhaps changed or created locally.
    func holds(_ id: RecordID, in table: String) async throws -> Bool
    /// Returns this device's records that refer by id to a record without an assigned key.
    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID]
    /// Returns the service's answer to options that no query can express; nil if there is no service.
    func page(_ options: ODataOptions, of table: String) async throws -> RecordPage?
}

/// Is informed of the links that are followed from records to others.
protocol LinkWatcher: Sendable {
    /// - Parameters:
    ///   - path: the navigation properties from the requested records to here, including this one.
    ///   - values: the values of the links.
    func follow(
        _ item: ODataOptions.ExpandItem, _ reference: TableSchema.Reference, from table: String, at path: String,
        _ values: [LinkValue]
    ) async throws
}

/// Records, and their total number if it was requested.
struct RecordPage: Sendable {
    var records: [JSON]
    var count: Int?
}
