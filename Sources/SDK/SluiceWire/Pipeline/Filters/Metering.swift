/// Counts the requests and answers of a push or a pull that somebody watches.
package protocol ExchangeMeter: Sendable {
    /// A request is about to be sent.
    func sends(_ request: Request)
    /// A request was answered.
    func received(_ response: Response, to request: Request)
}

/// Reports what goes over the wire to the meter of the task, if it has one.
package struct Metering: Filter {
    /// The meter of the push or pull that the task is part of.
    @TaskLocal package static var meter: (any ExchangeMeter)?

    package func handle(_ request: Request, next: Next) async throws -> Response {
        guard let meter = Self.meter else { return try await next(request) }
        meter.sends(request)
        let response = try await next(request)
        meter.received(response, to: request)
        return response
    }
}
