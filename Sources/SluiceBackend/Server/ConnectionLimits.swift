package import HummingbirdCore
internal import NIOCore

/// What a listener takes of a connection: sizes of heads, and for how long a client is waited for. One way for the
/// backend and for the daemon's listeners.
package struct ConnectionLimits: Sendable {
    var headBytes: Int
    var headerFields: Int
    var idleTime: Duration
    var requestTime: Duration
    var answerTime: Duration

    /// Limits.
    ///
    /// - Parameters:
    ///   - headBytes: the most bytes of a request's address and header fields together.
    ///   - headerFields: the most header fields.
    ///   - idleTime: for how long a connection may be without a request.
    ///   - requestTime: how long a request may take from its head to its end.
    ///   - answerTime: for how long a client may take nothing of an answer.
    package init(
        headBytes: Int, headerFields: Int, idleTime: Duration = .seconds(75), requestTime: Duration = .seconds(120),
        answerTime: Duration = .seconds(60)
    ) {
        self.headBytes = headBytes
        self.headerFields = headerFields
        self.idleTime = idleTime
        self.requestTime = requestTime
        self.answerTime = answerTime
    }

    init(_ limits: BackendConfiguration.Limits) {
        self.init(
            headBytes: limits.headBytes, headerFields: limits.headerFields, idleTime: limits.idleTime,
            requestTime: limits.requestTime, answerTime: limits.answerTime)
    }

    /// A server of HTTP/1.1 that keeps to them.
    package var server: HTTPServerBuilder {
        .http1(
            configuration: .init(
                additionalChannelHandlers: [PatienceHandler(self)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: headBytes, maxHeaderListSize: headBytes, maxHeaderFieldCount: headerFields)))
    }
}
