/// Counts the requests and answers of an observed push or pull.
package protocol ExchangeMeter: Sendable {
    /// Counts a request before it is sent.
    func sends(_ request: SyncRequest)
    /// Counts the answer to a request.
    func received(_ response: SyncResponse, to request: SyncRequest)
}

/// Reports requests and answers on the wire to the meter of the task, if it has one.
package struct Metering: RequestFilter {
    /// The meter of the push or pull that the task is part of.
    @TaskLocal package static var meter: (any ExchangeMeter)?

    package func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        guard let meter = Self.meter else { return try await next(request) }
        meter.sends(request)
        let response = try await next(request)
        meter.received(response, to: request)
        return response
    }
}
