internal import SluiceBase
internal import SluiceWire

/// Which failures make an operation dead in the end: those that lie with the operation or with what the server makes
/// of it, and not with the way to the server.
enum PoisonRule {
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
    /// Takes down that a try has failed: at `maximum` in a row the operation is dead.
    ///
    /// - Parameters:
    ///   - state: where the failure leaves it otherwise.
    ///   - reachedServer: whether the request may have reached the server.
    package mutating func fail(
        _ failure: Failure?, _ state: State, reachedServer: Bool, maximum: Int
    ) {
        self.failure = failure
        self.state = state
        guard let failure, PoisonRule.counts(failure, reachedServer: reachedServer) else { return }
        failedAttempts += 1
        if state == .pending, failedAttempts >= maximum { self.state = .dead }
    }
}
