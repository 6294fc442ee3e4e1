internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import SluiceCore
internal import Synchronization

/// Collects an answer's body within the limits: counts the unpacked bytes, and watches the rate.
struct BodyReader: Sendable {
    let response: HTTPClientResponse
    let limits: SyncRequest.Limits
    /// The time at which the exchange must be over. The HTTP client's own deadline ends with the answer's head.
    let deadline: ContinuousClock.Instant
    let errors: TransportErrors

    /// The number of bytes received so far, shared by the reader and the watch.
    private final class Progress: Sendable {
        let bytes = Atomic<Int>(0)
    }

    func read() async throws -> [UInt8] {
        // Not for a packed body: its length says nothing about its unpacked size.
        let announced =
            Self.isPacked(response.headers) ? nil : response.headers.first(name: "Content-Length").flatMap(Int.init)
        if let announced, announced > limits.responseBytes, !isHeadOnly { throw tooLarge }
        let progress = Progress()
        do {
            return try await withThrowingTaskGroup(of: [UInt8].self) { group in
                group.addTask { try await collect(announced: announced ?? 0, progress) }
                group.addTask { try await watch(progress) }
                group.addTask {
                    try await Pause.wait(for: deadline - .now)
                    throw errors.late
                }
                defer { group.cancelAll() }
                return try await group.next() ?? []
            }
        } catch {
            throw errors.insideBody(error)
        }
    }

    /// Whether the body was packed in a format that the client unpacks.
    static func isPacked(_ headers: HTTPHeaders) -> Bool {
        headers[canonicalForm: "Content-Encoding"].contains { ["gzip", "deflate"].contains($0.lowercased()) }
    }

    private var isHeadOnly: Bool { errors.isHead || response.status == .notModified }

    private var tooLarge: SluiceError {
        errors.error(.tooLarge, limits.tooLarge)
    }

    private func collect(announced: Int, _ progress: Progress) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        // A server's announced length reserves a limited amount of memory only.
        bytes.reserveCapacity(min(announced, 4 << 20))
        for try await piece in response.body {
            guard piece.readableBytes <= limits.responseBytes - bytes.count else { throw tooLarge }
            bytes.append(contentsOf: piece.readableBytesView)
            progress.bytes.store(bytes.count, ordering: .relaxed)
        }
        return bytes
    }

    /// Throws if, after the grace period, the average rate is below the slowest one allowed.
    private func watch(_ progress: Progress) async throws -> [UInt8] {
        let start = ContinuousClock.now
        let step = max(.milliseconds(10), min(limits.grace / 4, .seconds(1)))
        try await Pause.wait(for: limits.grace)
        while true {
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            if Double(progress.bytes.load(ordering: .relaxed)) < Double(limits.minimumRate) * seconds {
                throw errors.error(
                    .timeout, "the answer arrives at less than \(limits.minimumRate.counted("byte")) a second")
            }
            try await Pause.wait(for: step)
        }
    }
}
