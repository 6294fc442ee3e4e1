internal import SluiceBase
internal import SluiceWire

/// The service as the source of a read.
struct OnlineSource: RecordSource {
    let client: SluiceClient
    /// The largest number of records in one read.
    let maximumRecords: Int

    func page(_ query: TableQuery) async throws -> RecordPage {
        if query.top == 0, query.includesCount {
            return RecordPage(records: [], count: try await client.table(query.table).count(query))
        }
        let table = client.table(query.table)
        var page = try await table.read(query)
        return try await rest(&page, table)
    }

    func page(_ options: ODataOptions, of table: String) async throws -> RecordPage? {
        let text = options.parameters
            .map { "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))" }.joined(separator: "&")
        let table = client.table(table)
        var page = try await table.read(odata: "?\(text)")
        return try await rest(&page, table)
    }

    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID] { [] }
    func holds(_ id: RecordID, in table: String) async throws -> Bool { false }

    func record(_ id: RecordID, in table: String) async throws -> JSON? {
        do {
            return try await client.table(table).lookup(id: id)
        } catch let error as SluiceError where error.code == .notFound && error.status != nil {
            return nil
        }
    }

    /// Returns the rows of a page and of all later ones.
    private func rest(_ page: inout TablePage<JSON>, _ table: OnlineTable<JSON>) async throws -> RecordPage {
        var records = page.rows
        let count = page.count
        while let next = try await table.read(after: page) {
            page = next
            records += page.rows
            guard records.count <= maximumRecords else {
                throw SluiceError(
                    .limitReached, "the service has more than \(maximumRecords) such records; ask for a part with $top",
                    table: table.name)
            }
        }
        return RecordPage(records: records, count: count)
    }
}
