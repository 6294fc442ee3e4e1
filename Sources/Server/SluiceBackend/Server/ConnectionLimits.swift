internal import HTTPTypes
package import HummingbirdCore
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

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

/// Ends connections whose clients keep the server waiting: without a request, with a head or a body that drips, or with
/// an answer that they do not take. A request that is whole is waited for by nobody: its answer may take its time.
final class PatienceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// What the client is to send.
    private enum Awaited {
        case head, body, nothing
    }

    private let limits: ConnectionLimits
    /// The requests that are not answered.
    private var openAnswers = 0
    private var isInRequest = false
    private var awaited = Awaited.nothing
    private var deadline: Scheduled<Void>?
    /// The next look at an answer that waits, and how much of it waited at the last.
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

    // MARK: What comes

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

    /// Sets the time until which what is awaited must be there; it does not move while the same is awaited.
    private func update(_ context: ChannelHandlerContext) {
        // A request after another is not read while that one is answered.
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

    // MARK: What goes

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
