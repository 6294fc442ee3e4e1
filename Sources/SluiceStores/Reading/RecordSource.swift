internal import SluiceBase

/// Where a read's records come from: the local store, the service, or the service under what waits in the queue.
protocol RecordSource: Sendable {
    /// The records that match, and how many there are in all where the query asks for that.
    func page(_ query: Query) async throws -> RecordPage
    /// The record with that id.
    func record(_ id: RecordID, in table: String) async throws -> JSON?
    /// What a service answers that knows more than a query can say; nil where there is no service.
    func page(_ options: ODataOptions, of table: String) async throws -> RecordPage?
}

/// Records, and how many there are in all, where that was asked.
struct RecordPage: Sendable {
    var records: [JSON]
    var count: Int?
}
