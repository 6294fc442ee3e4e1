internal import SluiceBase

/// Which failures make an operation dead in the end: those that lie with the operation or with what the server makes
/// of it, and not with the way to the server.
enum PoisonRule {
    /// Whether a server, or something on the way to it, reports by that status that it cannot now or wants other
    /// credentials: it is about no operation, however often it comes. A network with a login page redirects or answers
    /// 511 (RFC 6585 §6), a proxy asks for credentials of its own with 407 (RFC 9110 §15.5.8).
    static func isPassing(_ status: Int) -> Bool {
        (300..<400).contains(status) || [401, 407, 408, 425, 429, 502, 503, 504, 511].contains(status)
    }

    /// Whether a failure counts.
    ///
    /// - Parameter reachedServer: whether the request may have reached the server.
    package static func counts(_ failure: TableOperation.Failure, reachedServer: Bool) -> Bool {
        if let status = failure.status { return !isPassing(status) }
        let ofTheWay: Set<String> = [
            SluiceError.Code.network.description, SluiceError.Code.timeout.description,
            SluiceError.Code.cancelled.description, SluiceError.Code.unauthorized.description,
        ]
        return reachedServer && !ofTheWay.contains(failure.code) && !failure.code.hasPrefix("store")
    }
}

extension TableOperation.Failure {
    /// Whether it shows that the server is overloaded or broken, so that other operations would fail too.
    var isOfServer: Bool { status.map { $0 >= 500 || PoisonRule.isPassing($0) } ?? false }
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
