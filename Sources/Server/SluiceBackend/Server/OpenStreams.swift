internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import SluiceCore
internal import Synchronization

/// The open change streams of one listener.
final class OpenStreams: Sendable {
    /// The interval of heartbeats on a stream without changes.
    private static let heartbeat = Duration.seconds(15)
    /// The longest time for a client to read sent events. A slower client is disconnected, so that nothing is buffered
    /// for it. It continues from its last event when it returns.
    private static let patience = Duration.seconds(10)

    private struct State {
        var hasEnded = false
        var count = 0
    }

    private let state = Mutex(State())
    private let meters: BackendMeters

    init(_ meters: BackendMeters) { self.meters = meters }

    /// Whether the listener is ending.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Ends all streams, each at its next wake-up.
    func end() { state.withLock { $0.hasEnded = true } }

    private func count(_ change: Int) {
        meters.note(
            streams: state.withLock { state in
                state.count += change
                return state.count
            })
    }

    /// Sends heartbeats until the task is cancelled.
    func beat(_ signals: CommitSignals) async {
        while (try? await Task.sleep(for: Self.heartbeat)) != nil { signals.beat() }
    }

    /// Returns the response of a stream.
    func response(_ first: [UInt8], _ stream: ChangeStream, _ channel: any Channel) -> Hummingbird.Response {
        var headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-cache"]
        if let buffering = HTTPField.Name("X-Accel-Buffering") { headers[buffering] = "no" }
        let body = ResponseBody { [self] writer in
            var stream = stream
            count(1)
            defer { count(-1) }
            try await write(first, to: &writer, channel)
            while !hasEnded, let bytes = await stream.next() {
                try await write(bytes, to: &writer, channel)
            }
            try await writer.finish(nil)
        }
        return Hummingbird.Response(status: .ok, headers: headers, body: body)
    }

    private func write(_ bytes: [UInt8], to writer: inout any ResponseBodyWriter, _ channel: any Channel) async throws {
        let limit = Task {
            try await Pause.wait(for: Self.patience)
            channel.close(promise: nil)
        }
        defer { limit.cancel() }
        try await writer.write(ByteBuffer(bytes: bytes))
    }
}

/// The context of a request, with its connection.
struct BackendContext: Hummingbird.RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
