internal import HTTPTypes
package import HummingbirdCore
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// The limits of a listener on a connection: the sizes of heads, and the waiting times for a client. The backend and
/// the daemon's listeners share them.
package struct ConnectionLimits: Sendable {
    var headBytes: Int
    var headerFields: Int
    var idleTime: Duration
    var requestTime: Duration
    var answerTime: Duration

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - headBytes: the most bytes of a request's address and header fields together.
    ///   - headerFields: the most header fields.
    ///   - idleTime: the longest time without a request.
    ///   - requestTime: the longest time from a request's head to its end.
    ///   - answerTime: the longest time in which a client reads nothing of an answer.
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

    /// Returns an HTTP/1.1 server with these limits.
    package var server: HTTPServerBuilder {
        .http1(
            configuration: .init(
                additionalChannelHandlers: [SlowClientHandler(self)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: headBytes, maxHeaderListSize: headBytes, maxHeaderFieldCount: headerFields)))
    }
}

/// Closes the connections of clients that keep the server waiting: idle, slow to send a head or a body, or not reading
/// an answer. A complete request has no time limit: its answer may take long.
final class SlowClientHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The part of a request that the client has to send next.
    private enum Awaited {
        case head, body, nothing
    }

    private let limits: ConnectionLimits
    /// The number of unanswered requests.
    private var openAnswers = 0
    private var isInRequest = false
    private var awaited = Awaited.nothing
    private var deadline: Scheduled<Void>?
    /// The next check of an unread answer, with its unread bytes at the last one.
    private var look: Scheduled<Void>?
    private var waitingBytes = 0

    init(_ limits: ConnectionLimits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { update(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        update(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
        deadline?.cancel()
        look?.cancel()
        (deadline, look) = (nil, nil)
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            openAnswers += 1
            isInRequest = true
            update(context)
        case .body: break
        case .end:
            isInRequest = false
            update(context)
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard openAnswers == 0, case HTTPParserError.headerOverflow? = error as? HTTPParserError else {
            return context.fireErrorCaught(error)
        }
        let head = HTTPResponse(
            status: .requestHeaderFieldsTooLarge, headerFields: [.connection: "close", .contentLength: "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }

    /// Sets the deadline for the awaited part; it stays the same while the awaited part does.
    private func update(_ context: ChannelHandlerContext) {
        // A pipelined request is not read while the previous one is being answered.
        let awaited: Awaited =
            isInRequest ? (openAnswers <= 1 ? .body : .nothing) : (openAnswers == 0 ? .head : .nothing)
        guard awaited != self.awaited else { return }
        self.awaited = awaited
        deadline?.cancel()
        deadline = nil
        let time: Duration
        switch awaited {
        case .head: time = limits.idleTime
        case .body: time = limits.requestTime
        case .nothing: return
        }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            context.close(promise: nil)
        }
    }

    // MARK: Writing

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            openAnswers -= 1
            update(context)
        }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            look?.cancel()
            look = nil
        } else if look == nil {
            waitingBytes = Self.waitingBytes(context)
            lookLater(context)
        }
        context.fireChannelWritabilityChanged()
    }

    private func lookLater(_ context: ChannelHandlerContext) {
        look = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.answerTime)) {
            let bytes = Self.waitingBytes(context)
            guard bytes < self.waitingBytes else { return context.close(promise: nil) }
            self.waitingBytes = bytes
            self.lookLater(context)
        }
    }

    private static func waitingBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
