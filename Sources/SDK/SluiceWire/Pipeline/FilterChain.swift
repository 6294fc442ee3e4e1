package import SluiceBase

/// Filters in front of a transport, as a value: adding a filter makes another chain.
public struct FilterChain: Sendable {
    /// The filters, the outermost first.
    public let filters: [any Filter]
    /// The transport after the innermost filter.
    public let transport: any Transport
    private let entry: Next

    /// Folds the filters around the transport, once.
    public init(_ filters: [any Filter], transport: any Transport) {
        self.filters = filters
        self.transport = transport
        var entry: Next = { request in
            try await Self.pass(request, .network, "transport \(type(of: transport))") {
                try await transport.send(request)
            }
        }
        for filter in filters.reversed() {
            let next = entry
            entry = { request in
                try await Self.pass(request, .filter, "filter \(type(of: filter))") {
                    try await filter.handle(request, next: next)
                }
            }
        }
        self.entry = entry
    }

    /// Sends a request through the filters.
    ///
    /// - Throws: ``SluiceError``; for a filter's own error one of code `filter` that names the filter.
    public func send(_ request: Request) async throws -> Response { try await entry(request) }

    /// Passes a request to a link of the chain.
    ///
    /// Filters before the link may have set credentials that the client does not know yet. Where the link itself makes
    /// the error or the answer, they are noted, so that its text is shown without them.
    ///
    /// - Throws: an error of Sluice unchanged, any other with the name of the link.
    package static func pass(
        _ request: Request, _ code: SluiceError.Code, _ name: @autoclosure () -> String,
        to link: () async throws -> Response
    ) async throws -> Response {
        let context = request.context
        do {
            let response = try await link()
            if response.credentials == nil { context.credentials?.note(request.head) }
            return response
        } catch let error {
            context.credentials?.note(request.head)
            if error is SluiceError { throw error }
            let isCancelled = error is CancellationError
            throw SluiceError(
                isCancelled ? .cancelled : code, isCancelled ? "the request was cancelled" : "\(name()) failed",
                table: context.table, recordID: context.recordID, operationID: context.operationID, cause: error)
        }
    }
}
