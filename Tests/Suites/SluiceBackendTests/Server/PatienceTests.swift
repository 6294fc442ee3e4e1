import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Testing

@testable import SluiceBackend

/// Makes bytes of bodies, as the encoder does: what waits is counted in bytes.
private final class BodyBytes: ChannelOutboundHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = ByteBuffer

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(let bytes) = unwrapOutboundIn(data) else { return promise?.succeed() ?? () }
        context.write(wrapOutboundOut(bytes), promise: promise)
    }
}

/// Connections whose clients keep the server waiting, by the clock of an event loop that is set by hand.
@Suite struct PatienceTests {
    private static let request = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/tables/t")

    private func channel() throws -> EmbeddedChannel {
        let limits = ConnectionLimits(
            headBytes: 1024, headerFields: 10, idleTime: .seconds(60), requestTime: .seconds(120),
            answerTime: .seconds(30))
        let channel = EmbeddedChannel(handler: SlowClientHandler(limits))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func pass(_ seconds: Int64, _ channel: EmbeddedChannel) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    }

    private func answer(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(.init(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    private func ask(_ channel: EmbeddedChannel) throws {
        try channel.writeInbound(HTTPRequestPart.head(Self.request))
        try channel.writeInbound(HTTPRequestPart.end(nil))
    }

    @Test("a connection without a request, or with a head that never ends, is cut")
    func idle() throws {
        let channel = try channel()
        pass(59, channel)
        #expect(channel.isActive)
        pass(1, channel)
        #expect(!channel.isActive)
    }

    @Test("each answer begins the time anew")
    func betweenRequests() throws {
        let channel = try channel()
        for _ in 0..<5 {
            pass(50, channel)
            try ask(channel)
            try answer(channel)
        }
        pass(59, channel)
        #expect(channel.isActive)
        pass(1, channel)
        #expect(!channel.isActive)
    }

    @Test("a body that drips is cut, however often a byte of it comes")
    func drippingBody() throws {
        let channel = try channel()
        try channel.writeInbound(HTTPRequestPart.head(Self.request))
        for _ in 0..<119 {
            pass(1, channel)
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
        }
        #expect(channel.isActive)
        pass(1, channel)
        #expect(!channel.isActive)
    }

    @Test("what was answered before its body was there has no more time for it")
    func answeredEarly() throws {
        let channel = try channel()
        try channel.writeInbound(HTTPRequestPart.head(Self.request))
        pass(100, channel)
        try answer(channel)
        pass(19, channel)
        #expect(channel.isActive)
        pass(1, channel)
        #expect(!channel.isActive)
    }

    @Test("a request that is whole is never cut: a stream goes on for days, and a request behind it waits")
    func stream() throws {
        let channel = try channel()
        try ask(channel)
        try channel.writeOutbound(HTTPResponsePart.head(.init(status: .ok)))
        pass(100_000, channel)
        try channel.writeInbound(HTTPRequestPart.head(Self.request))
        pass(100_000, channel)
        #expect(channel.isActive)
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        pass(119, channel)
        #expect(channel.isActive)
        pass(1, channel)
        #expect(!channel.isActive)
    }

    @Test("a client that takes nothing of its answer is cut, one that takes a little is not")
    func answers() throws {
        let channel = try channel()
        try channel.pipeline.syncOperations.addHandler(BodyBytes(), position: .first)
        try ask(channel)
        for _ in 0..<100 { channel.write(HTTPResponsePart.body(ByteBuffer(string: "x")), promise: nil) }
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        pass(29, channel)
        #expect(channel.isActive)
        // The client takes what there is, and the channel still has no place.
        channel.flush()
        pass(1, channel)
        #expect(channel.isActive)
        pass(30, channel)
        #expect(!channel.isActive)
    }

    @Test("an answer that is taken ends the watch")
    func takenAnswer() throws {
        let channel = try channel()
        try ask(channel)
        for isWritable in [false, true] {
            channel.isWritable = isWritable
            channel.pipeline.fireChannelWritabilityChanged()
            pass(20, channel)
        }
        pass(100, channel)
        #expect(channel.isActive)
    }

    @Test("a head that is too large is told so, and the connection ends")
    func head() throws {
        let channel = try channel()
        channel.pipeline.fireErrorCaught(HTTPParserError.headerOverflow)
        guard case .head(let head) = try channel.readOutbound(as: HTTPResponsePart.self) else {
            Issue.record("there is no answer")
            return
        }
        #expect(head.status == .requestHeaderFieldsTooLarge)
        #expect(!channel.isActive)
    }
}
