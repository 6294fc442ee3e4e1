package import SluiceBase

/// Filters in front of a transport, as a value: adding a filter makes another chain.
///
/// Requests pass it in pages; a request by itself is a page of one.
public struct FilterChain: Sendable {
    /// The filters, the outermost first.
    public let filters: [any RequestFilter]
    /// The transport after the innermost filter.
    public let transport: any Transport
    private let entry: RequestPage.Next

    /// Folds the filters around the transport, once.
    public init(_ filters: [any RequestFilter], transport: any Transport) {
        self.filters = filters
        self.transport = transport
        var entry: RequestPage.Next = { page in await Self.end(page, transport) }
        for filter in filters.reversed() {
            let next = entry
            switch filter {
            case let filter as any PageFilter: entry = { page in await filter.handle(page, next: next) }
            case let filter as any RequestTransform: entry = { page in await Self.pass(page, filter, next) }
            default:
                entry = { page in
                    if page.requests.count > 1 { return await NestedPage(page, filter, next).answers() }
                    return [await Self.pass(page.requests[0], page.group, filter, next)]
                }
            }
        }
        self.entry = entry
    }

    /// Sends a request through the filters.
    ///
    /// - Throws: ``SluiceError``; for a filter's own error one of code `filter` that names the filter.
    public func send(_ request: SyncRequest) async throws -> SyncResponse {
        try await entry(RequestPage([request]))[0].get()
    }

    /// Sends the requests of a page through the filters.
    package func send(_ page: RequestPage) async -> RequestPage.Answers { await entry(page) }

    private static func end(_ page: RequestPage, _ transport: any Transport) async -> RequestPage.Answers {
        if let transport = transport as? any PageTransport { return await transport.send(page) }
        var answers: RequestPage.Answers = []
        for request in page.requests {
            let answer = await caught {
                try await pass(request, .network, "transport \(type(of: transport))") {
                    try await transport.send(request)
                }
            }
            answers.append(answer)
        }
        return answers
    }

    private static func pass(
        _ request: SyncRequest, _ group: RequestPage.Group?, _ filter: any RequestFilter,
        _ next: @escaping RequestPage.Next
    ) async -> Result<SyncResponse, any Error> {
        await caught {
            try await pass(request, .filter, "filter \(type(of: filter))") {
                try await filter.handle(request) { try await next(RequestPage([$0], group: group))[0].get() }
            }
        }
    }

    private static func pass(
        _ page: RequestPage, _ filter: any RequestTransform, _ next: RequestPage.Next
    ) async -> RequestPage.Answers {
        var answers: [Result<SyncResponse, any Error>?] = Array(repeating: nil, count: page.requests.count)
        var (sent, places): (RequestPage, [Int]) = (page.taking([]), [])
        for (place, request) in page.requests.enumerated() {
            do {
                sent.requests.append(try filter.request(request))
                places.append(place)
            } catch {
                answers[place] = .failure(named(error, request, .filter, "filter \(type(of: filter))"))
            }
        }
        let came = places.isEmpty ? [] : await next(sent)
        for (index, place) in places.enumerated() {
            let request = page.requests[place]
            do {
                let response = try filter.response(try came[index].get(), to: sent.requests[index])
                if response.credentials == nil { request.context.credentials?.note(request.head) }
                answers[place] = .success(response)
            } catch {
                answers[place] = .failure(named(error, request, .filter, "filter \(type(of: filter))"))
            }
        }
        return answers.map { $0 ?? .failure(CancellationError()) }
    }

    /// Returns the result of the body.
    static func caught(_ body: () async throws -> SyncResponse) async -> Result<SyncResponse, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    /// Passes a request to a link of the chain.
    ///
    /// Filters before the link may have set credentials that the client does not know yet. Where the link itself makes
    /// the error or the answer, they are noted, so that its text is shown without them.
    ///
    /// - Throws: an error of Sluice unchanged, any other with the name of the link.
    package static func pass(
        _ request: SyncRequest, _ code: SluiceError.Code, _ name: @autoclosure () -> String,
        to link: () async throws -> SyncResponse
    ) async throws -> SyncResponse {
        do {
            let response = try await link()
            if response.credentials == nil { request.context.credentials?.note(request.head) }
            return response
        } catch let error {
            throw named(error, request, code, name())
        }
    }

    private static func named(
        _ error: any Error, _ request: SyncRequest, _ code: SluiceError.Code, _ name: @autoclosure () -> String
    ) -> any Error {
        let context = request.context
        context.credentials?.note(request.head)
        if error is SluiceError { return error }
        let isCancelled = error is CancellationError
        return SluiceError(
            isCancelled ? .cancelled : code, isCancelled ? "the request was cancelled" : "\(name()) failed",
            table: context.table, recordID: context.recordID, operationID: context.operationID, cause: error)
    }
}
