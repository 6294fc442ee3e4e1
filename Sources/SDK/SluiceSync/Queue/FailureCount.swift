internal import SluiceBase
internal import SluiceWire

/// Decides which failures make an operation dead in the end: failures of the operation or of the server's handling of
/// it, but not of the connection.
enum FailureCount {
    /// Whether a failure counts.
    ///
    /// - Parameter reachedServer: whether the request may have reached the server.
    package static func counts(_ failure: TableOperation.Failure, reachedServer: Bool) -> Bool {
        if let status = failure.status { return !AnswerStatus.isPassing(status) }
        let ofTheWay: Set<String> = [
            SluiceError.Code.network.description, SluiceError.Code.timeout.description,
            SluiceError.Code.cancelled.description, SluiceError.Code.unauthorized.description,
        ]
        return reachedServer && !ofTheWay.contains(failure.code) && !failure.code.hasPrefix("store")
    }
}

extension TableOperation.Failure {
    /// Whether it shows that the server is overloaded or broken, so that other operations would fail too.
    var isOfServer: Bool { status.map { $0 >= 500 || AnswerStatus.isPassing($0) } ?? false }
}

extension TableOperation {
    /// Records a failed attempt. After `maximum` failures in a row the operation is dead.
    ///
    /// - Parameters:
    ///   - state: the state after the failure, unless the operation is dead.
    ///   - reachedServer: whether the request may have reached the server.
    package mutating func fail(
        _ failure: Failure?, _ state: State, reachedServer: Bool, maximum: Int
    ) {
        self.failure = failure
        self.state = state
        guard let failure, FailureCount.counts(failure, reachedServer: reachedServer) else { return }
        failedAttempts += 1
        if state == .pending, failedAttempts >= maximum { self.state = .dead }
    }
}
