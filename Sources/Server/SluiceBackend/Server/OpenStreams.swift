internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import SluiceCore
internal import Synchronization

/// The streams of changes of one listener.
final class OpenStreams: Sendable {
    /// How often a stream without changes has a sign of life.
    private static let heartbeat = Duration.seconds(15)
    /// How long a client may take to read what it was sent. One that is slower is cut off, and goes on where it was when
    /// it comes back: nothing is kept for it meanwhile.
    private static let patience = Duration.seconds(10)

    private struct State {
        var hasEnded = false
        var count = 0
    }

    private let state = Mutex(State())
    private let meters: BackendMeters

    init(_ meters: BackendMeters) { self.meters = meters }

    /// Whether the listener ends.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Ends all streams, each when it wakes next.
    func end() { state.withLock { $0.hasEnded = true } }

    private func count(_ change: Int) {
        meters.note(
            streams: state.withLock { state in
                state.count += change
                return state.count
            })
    }

    /// Sends signs of life until the task is cancelled.
    func beat(_ signals: CommitSignals) async {
        while (try? await Task.sleep(for: Self.heartbeat)) != nil { signals.beat() }
    }

    /// The answer that a stream is.
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
