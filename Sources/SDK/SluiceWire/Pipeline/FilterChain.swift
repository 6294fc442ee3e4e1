internal import SluiceBase

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
            do {
                return try await transport.send(request)
            } catch let error {
                throw Self.named(error, .network, "transport \(type(of: transport)) failed", request)
            }
        }
        var rest = filters[...]
        while let filter = rest.popLast() {
            let next = entry
            if let placed = filter as? PlacedFilter {
                var run = [placed]
                while let other = rest.last as? PlacedFilter {
                    run.insert(other, at: 0)
                    rest.removeLast()
                }
                let link = PlacedRun(run)
                entry = { try await link.send($0, next: next) }
                continue
            }
            entry = { request in
                do {
                    return try await filter.handle(request, next: next)
                } catch let error {
                    throw Self.named(error, .filter, "filter \(type(of: filter)) failed", request)
                }
            }
        }
        self.entry = entry
    }

    /// Sends a request through the filters.
    ///
    /// - Throws: ``SluiceError``; for a filter's own error one of code `filter` that names the filter.
    public func send(_ request: Request) async throws -> Response { try await entry(request) }

    /// Returns the error for the caller: an error of Sluice unchanged, any other with the name of the link that threw
    /// it. The credentials of the link's request are noted, which may be those of a filter before it.
    static func named(
        _ error: any Error, _ code: SluiceError.Code, _ message: String, _ request: Request
    ) -> any Error {
        let context = request.context
        context.credentials?.note(request.head)
        if error is SluiceError { return error }
        let isCancelled = error is CancellationError
        return SluiceError(
            isCancelled ? .cancelled : code, isCancelled ? "the request was cancelled" : message, table: context.table,
            recordID: context.recordID, operationID: context.operationID, cause: error)
    }
}
