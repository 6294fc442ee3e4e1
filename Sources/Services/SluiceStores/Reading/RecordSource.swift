internal import SluiceBase

/// Where a read's records come from: the local store, the service, or the service under what waits in the queue.
protocol RecordSource: Sendable {
    /// The records that match, and how many there are in all where the query asks for that.
    func page(_ query: Query) async throws -> RecordPage
    /// The record with that id.
    func record(_ id: RecordID, in table: String) async throws -> JSON?
    /// Whether this device holds the record, changed or made here perhaps.
    func holds(_ id: RecordID, in table: String) async throws -> Bool
    /// The records of this device that refer to one whose key is not assigned yet, by its id.
    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID]
    /// What a service answers that knows more than a query can say; nil where there is no service.
    func page(_ options: ODataOptions, of table: String) async throws -> RecordPage?
}

/// Told of the links that are followed from records to others.
protocol LinkWatcher: Sendable {
    /// - Parameters:
    ///   - path: the navigation properties that led here from the records that were asked for, this one included.
    ///   - values: those that link.
    func follow(
        _ item: ExpandItem, _ reference: TableSchema.Reference, from table: String, at path: String,
        _ values: [LinkValue]
    ) async throws
}

/// Records, and how many there are in all, where that was asked.
struct RecordPage: Sendable {
    var records: [JSON]
    var count: Int?
}
