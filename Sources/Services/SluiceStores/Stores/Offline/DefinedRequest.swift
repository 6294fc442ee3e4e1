public import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// A defining request with its state: the record that an offline store keeps of it, beside the records.
public struct DefinedRequest: Sendable, Hashable {
    /// The request.
    public let request: DefiningRequest
    /// The begin of its last complete download; nil before.
    public internal(set) var downloadedAt: Timestamp?
    /// The reason why its last download failed; nil if it succeeded.
    public internal(set) var failure: String?
    /// Whether the linked records were downloaded as well, as the request's `$expand` specifies. A download that ended
    /// early may have brought records without them.
    var isExpanded = false
    /// The named queries that hold its records: the request's own first, then those of its expansions.
    var parts: [Part]

    /// A named query of the sync context.
    struct Part: Sendable, Hashable {
        var table: String
        var name: String
    }

    init(_ request: DefiningRequest) {
        self.request = request
        parts = [Part(table: request.table, name: Self.queryName(request.name))]
    }

    /// Returns the name under which a defining request is pulled.
    static func queryName(_ name: String) -> String { "request:\(name)" }

    /// The request, reduced to its complete part.
    var covering: DefiningRequest {
        var covering = request
        if !isExpanded { covering.options.expand = [] }
        return covering
    }

    /// The store's table of defined requests.
    static let schema = TableSchema(
        "sluice_requests", columns: [.init("table", .string), .init("options", .string), .init("downloadedAt", .date)])

    var record: JSON {
        let options = request.options.parameters
            .map { "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))" }.joined(separator: "&")
        return [
            "id": JSON(request.name), "table": JSON(request.table), "options": JSON(options),
            "downloadedAt": downloadedAt.map { JSON($0.description) } ?? .null,
            "failure": failure.map { JSON($0) } ?? .null, "expanded": JSON(isExpanded),
            "parts": JSON(parts.map { ["table": JSON($0.table), "name": JSON($0.name)] }),
        ]
    }

    /// - Throws: ``SluiceError`` of code `storeCorrupt`.
    init(record: JSON) throws(SluiceError) {
        guard let name = record["id"]?.string, let table = record["table"]?.string,
            let text = record["options"]?.string, let options = try? ODataOptions(text)
        else { throw SluiceError(.storeCorrupt, "the store holds a defining request that cannot be read") }
        self.init(DefiningRequest(name, of: table, options))
        downloadedAt = record["downloadedAt"]?.string.flatMap { Timestamp($0) }
        failure = record["failure"]?.string
        isExpanded = record["expanded"]?.bool ?? false
        let parts = (record["parts"]?.elements ?? []).compactMap { part -> Part? in
            guard let table = part["table"]?.string, let name = part["name"]?.string else { return nil }
            return Part(table: table, name: name)
        }
        if !parts.isEmpty { self.parts = parts }
    }

    /// Returns all of a store, in the order of their names.
    static func all(in store: any StoreReader) throws -> [DefinedRequest] {
        try store.records(matching: TableQuery(schema.name)).map { try DefinedRequest(record: $0) }
    }
}
