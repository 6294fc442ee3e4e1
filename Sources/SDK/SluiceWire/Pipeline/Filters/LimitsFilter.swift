internal import SluiceBase

/// Sets the limits of the exchange, ends it at the deadline, and refuses an answer that is too large.
///
/// At the deadline the transport's task is cancelled, and the error is thrown once the transport has returned.
struct LimitsFilter: RequestFilter {
    let limits: SyncRequest.Limits
    let timer: @Sendable (Duration) async throws -> Void

    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        var request = request
        request.context.limits = limits
        var response = try await beforeDeadline(request, next)
        if let bytes = response.body.untouchedBytes {
            guard bytes.count <= limits.responseBytes else {
                throw error(.tooLarge, limits.tooLarge, request.context)
            }
            response.body = MessageBody(bytes: bytes, maximumValues: limits.responseValues)
        }
        return response
    }

    private enum Event: Sendable { case answer(SyncResponse), deadline, noDeadline }

    private func beforeDeadline(_ request: SyncRequest, _ next: RequestFilter.Next) async throws -> SyncResponse {
        try await withoutActuallyEscaping(next) { next in
            try await withThrowingTaskGroup(of: Event.self) { group in
                group.addTask { .answer(try await next(request)) }
                group.addTask {
                    do {
                        try await timer(limits.deadline)
                        return .deadline
                    } catch {
                        // Cancelled: so is the transport, and an answer that has already arrived is not discarded.
                        return .noDeadline
                    }
                }
                defer { group.cancelAll() }
                while let event = try await group.next() {
                    if case .answer(let response) = event { return response }
                    if case .deadline = event { break }
                }
                throw error(.timeout, "the exchange \(limits.tooLong)", request.context)
            }
        }
    }

    private func error(_ code: SluiceError.Code, _ message: String, _ context: SyncRequest.Context) -> SluiceError {
        SluiceError(
            code, message, table: context.table, recordID: context.recordID, operationID: context.operationID)
    }
}

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
