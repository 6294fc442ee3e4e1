/// Counts what goes over the wire, for the progress of a push or a pull that somebody watches.
struct Metering: Filter {
    func handle(_ request: Request, next: Next) async throws -> Response {
        guard let meter = ProgressMeter.current else { return try await next(request) }
        meter.sends(request)
        let response = try await next(request)
        meter.received(response, to: request)
        return response
    }
}
