internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression

/// Shields the HTTP client from impossible answers, on which it would end the process: a body or an end of an answer
/// without a final head. A status below 100 is enough for that: the client takes its head for an interim one.
final class ResponseGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The fault of an answer.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private var hasHead = false
    private var isRefused = false
    private let meter: HeadMeter

    private init(_ meter: HeadMeter) { self.meter = meter }

    /// Puts a guard in front of the client's own handler, on a connection of HTTP/1.1 or a stream of HTTP/2.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let unpacking = try pipeline.handler(type: NIOHTTPResponseDecompressor.self)
            let meter = HeadMeter()
            // A stream of HTTP/2 has no such reader: its heads arrive complete, and have their own limits.
            if let reader = try? pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self) {
                try pipeline.addHandler(meter, position: .before(reader))
            }
            try pipeline.addHandler(ResponseGuard(meter), position: .after(unpacking))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            switch head.status.code {
            // Switching protocols, though not requested, is final: the client closes the connection after it.
            case 101, 200...: hasHead = true
            case 100..<200: return
            default: return refuse("HTTP has no status \(head.status.code)", context)
            }
        case .body: guard hasHead else { return refuse("a body came before its head", context) }
        case .end:
            guard hasHead else { return refuse("an answer ended before its head", context) }
            hasHead = false
        }
        meter.reset()
        context.fireChannelRead(data)
    }

    private func refuse(_ reason: String, _ context: ChannelHandlerContext) {
        isRefused = true
        context.fireErrorCaught(Refusal(description: reason))
        context.close(promise: nil)
    }
}

/// Ends a connection on which too many bytes arrive without result: spaces before a value, answers that only announce
/// others, a name without an end in front of packed bytes. The later readers hold or drop such bytes without a limit.
final class HeadMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Far more than the size of a head.
    private static let most = 512 << 10

    private var idleBytes = 0

    /// Resets the count, because the received bytes had a result.
    func reset() { idleBytes = 0 }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard idleBytes <= Self.most else { return }
        idleBytes += unwrapInboundIn(data).readableBytes
        guard idleBytes <= Self.most else {
            context.fireErrorCaught(ResponseGuard.Refusal(description: "more than a head came, and no answer"))
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }
}
