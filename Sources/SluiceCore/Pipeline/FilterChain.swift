/// Filters in front of a transport, as a value: a chain with one filter more is another chain.
public struct FilterChain: Sendable {
    /// The filters, the outermost first.
    public let filters: [any Filter]
    /// What the innermost filter's `next` sends through.
    public let transport: any Transport
    private let entry: Next

    /// Folds the filters around the transport, once.
    public init(_ filters: [any Filter], transport: any Transport) {
        self.filters = filters
        self.transport = transport
        var entry: Next = { try await transport.send($0) }
        for filter in filters.reversed() {
            let next = entry
            entry = { request in
                do {
                    return try await filter.handle(request, next: next)
                } catch let error where error is SluiceError || error is JSONParseError {
                    throw error
                } catch let error as CancellationError {
                    throw SluiceError(.cancelled, "the request was cancelled", cause: error)
                } catch {
                    throw SluiceError(
                        .filter, "filter \(type(of: filter)) failed", table: request.context.table,
                        recordID: request.context.recordID, operationID: request.context.operationID, cause: error)
                }
            }
        }
        self.entry = entry
    }

    /// Sends a request through the filters.
    ///
    /// - Throws: ``SluiceError``; for a filter's own error one of code `filter` that names the filter.
    public func send(_ request: Request) async throws -> Response { try await entry(request) }
}
