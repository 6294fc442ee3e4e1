internal import NIOCore
internal import NIOHTTP1

/// Ends a connection on which too much arrives that comes to nothing: spaces before a value, answers that only announce
/// others, a name without an end in front of packed bytes. The readers behind it hold or drop such bytes without a
/// limit.
final class HeadMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Far more than a head is.
    private static let most = 512 << 10

    private var idleBytes = 0

    /// Something came of what has arrived.
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
