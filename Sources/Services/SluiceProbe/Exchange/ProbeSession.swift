internal import HTTPTypes
internal import SluiceBase
internal import SluiceOData
internal import SluiceSync
internal import SluiceWire

/// The requests of one probe, by the client that syncs use.
struct ProbeSession: Sendable {
    /// An answer that is one, or the reason why it is none.
    typealias Answer<Value> = Result<Value, SluiceError>

    let client: SluiceClient
    let wire: ProbeTransport
    let table: String
    let options: ProbeOptions
    let environment: SyncEnvironment
    /// The table's set, of an OData service whose description could be read.
    var set: EntitySet?

    var dialect: Dialect { client.dialect }
    /// Whether the server is an OData service behind an adapter.
    var isService: Bool { dialect.adapter != nil }

    /// The same session for another table.
    func turned(to table: String, _ set: EntitySet?) -> ProbeSession {
        var session = ProbeSession(
            client: client, wire: wire, table: table, options: options, environment: environment)
        session.set = set
        return session
    }

    /// Sends the request.
    ///
    /// - Throws: at the probe's bounds, and where it is cancelled.
    func send(_ request: SyncRequest) async throws -> Answer<SyncResponse> {
        do {
            return .success(try await client.send(request))
        } catch {
            try check(error)
            return .failure(error as? SluiceError ?? SluiceError(.filter, "a filter failed", cause: error))
        }
    }

    /// Throws the error where the probe has to end: at its bounds, and where it is cancelled.
    func check(_ error: any Error) throws {
        try Task.checkCancellation()
        if wire.isOver { throw error }
    }

    /// Returns the page that the request brings.
    func page(_ request: SyncRequest) async throws -> Answer<ProbePage> {
        switch try await send(request) {
        case .failure(let error): return .failure(error)
        case .success(let response):
            do {
                let page = try dialect.page(in: response, for: request.context, requiresIDs: false, setsAside: true)
                let next = dialect.nextPage(after: response, page: page, request: request, endpoint: client.endpoint)
                let isDated = response.head.headerFields[.date].flatMap { HTTPDate.timestamp($0) }
                return .success(ProbePage(page, next: next, date: isDated))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Returns the page of a list of the table.
    func list(_ change: (inout TableQuery) -> Void = { _ in }) async throws -> Answer<ProbePage> {
        var query = TableQuery(table)
        query.order = [.init(dialect.columns.id)]
        query.top = ProbePage.wanted
        query.includesDeleted = true
        change(&query)
        return try await page(try dialect.list(table: table, query: query, endpoint: client.endpoint))
    }

    /// Returns the page of a pull, by the request that a pull would send.
    func pulled(_ position: PullRequest.Position, top: Int = ProbePage.wanted) async throws -> Answer<ProbePage> {
        let requests = PullRequests(
            dialect: dialect, endpoint: client.endpoint, query: TableQuery(table), isNamed: true)
        return try await page(try requests.request(for: PullRequest(position: position, skip: 0, top: top)))
    }

    /// Returns the answer to a lookup or a change, read as a push or an online table would.
    func record(_ request: SyncRequest) async throws -> ProbeRecord {
        switch try await send(request) {
        case .failure(let error): return ProbeRecord(.failure(error))
        case .success(let response):
            do {
                return ProbeRecord(.success(try dialect.record(in: response, for: request.context)), response, dialect)
            } catch {
                return ProbeRecord(.failure(error), response, dialect)
            }
        }
    }

    func lookup(_ id: RecordID, includeDeleted: Bool = false) async throws -> ProbeRecord {
        try await record(
            dialect.lookup(table: table, id: id, includeDeleted: includeDeleted, endpoint: client.endpoint))
    }
}

/// The rows of one answer to a list.
struct ProbePage: Sendable {
    /// The number of rows that a probe asks for.
    static let wanted = 50

    var rows: [RowPage.Row]
    var count: Int?
    /// The reasons why rows could not be stored.
    var problems: [String]
    var next: SyncRequest?
    /// The server's `Date`.
    var date: Timestamp?

    init(
        rows: [RowPage.Row], count: Int? = nil, problems: [String] = [], next: SyncRequest? = nil,
        date: Timestamp? = nil
    ) {
        (self.rows, self.count, self.problems, self.next, self.date) = (rows, count, problems, next, date)
    }

    init(_ page: RowPage, next: SyncRequest?, date: Timestamp?) {
        self.init(
            rows: page.rows, count: page.count, problems: page.problems.sorted { $0.key < $1.key }.map(\.value),
            next: next, date: date)
    }

    var ids: [RecordID] { rows.map(\.id) }
}

/// One record in an answer, with the status and the fields of that answer.
struct ProbeRecord: Sendable {
    /// The record; nil in it for an answer that has none and needs none.
    var record: Result<JSON?, SluiceError>
    var status: Int?
    var tag: String?
    var date: Timestamp?
    /// The id in the body, whatever was asked for.
    var bodyID: RecordID?
    /// Whether the server said that it remembers the ids of requests.
    var remembersRequests = false

    init(_ record: Result<JSON?, SluiceError>) { self.record = record }

    init(_ record: Result<JSON?, SluiceError>, _ response: SyncResponse, _ dialect: Dialect) {
        self.record = record
        bodyID = (try? response.body.json)?[dialect.columns.id]?.textID
        status = response.status
        tag = response.head.headerFields[.eTag]
        date = response.head.headerFields[.date].flatMap { HTTPDate.timestamp($0) }
        let result = HTTPField.Name("Repeatability-Result").flatMap { response.head.headerFields[$0] }
        remembersRequests = result?.lowercased() == "accepted"
    }

    /// The record, if there is one.
    var json: JSON? { (try? record.get()) ?? nil }
    var error: SluiceError? {
        if case .failure(let error) = record { return error }
        return nil
    }
    /// Whether the server reports success.
    var isDone: Bool { status.map { 200..<300 ~= $0 } ?? false }
}
