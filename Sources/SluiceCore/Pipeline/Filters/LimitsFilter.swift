/// Sets the bounds of the exchange, ends it at the deadline, and refuses an answer that is too large.
///
/// At the deadline the transport's task is cancelled, and the error is thrown when the transport has let go.
struct LimitsFilter: Filter {
    let limits: Limits
    let timer: @Sendable (Duration) async throws -> Void

    func handle(_ request: Request, next: Next) async throws -> Response {
        var request = request
        request.context.limits = limits
        var response = try await beforeDeadline(request, next)
        if let bytes = response.body.untouchedBytes {
            guard bytes.count <= limits.responseBytes else {
                throw error(.tooLarge, "the answer is larger than \(limits.responseBytes) bytes", request.context)
            }
            response.body = Body(bytes: bytes, maximumValues: limits.responseValues)
        }
        return response
    }

    private func beforeDeadline(_ request: Request, _ next: Next) async throws -> Response {
        try await withoutActuallyEscaping(next) { next in
            try await withThrowingTaskGroup(of: Response?.self) { group in
                group.addTask { try await next(request) }
                group.addTask {
                    try await timer(limits.deadline)
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let response = first else {
                    throw error(.timeout, "the exchange took longer than \(limits.deadline)", request.context)
                }
                return response
            }
        }
    }

    private func error(_ code: SluiceError.Code, _ message: String, _ context: RequestContext) -> SluiceError {
        SluiceError(
            code, message, table: context.table, recordID: context.recordID, operationID: context.operationID)
    }
}
