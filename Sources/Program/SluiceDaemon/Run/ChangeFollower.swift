internal import AsyncHTTPClient
internal import Foundation
internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import Sluice
internal import Synchronization

/// Follows a table's change events, so that changes are pulled as they happen. If the server has no such stream, only
/// the schedule pulls.
///
/// An event only starts an ordinary pull, so that hooks, conflicts and cursors work the same with and without events.
struct ChangeFollower: Sendable {
    /// The end of a connection.
    private enum End: Sendable {
        /// The server has no such stream.
        case notOffered
        /// The connection broke, or was refused for now.
        case broken
    }

    /// The longest silence on a stream; heartbeats are more frequent.
    private static let silence = Duration.seconds(60)
    private static let maximumPause = Duration.seconds(300)
    /// The longest line that is parsed; longer ones are skipped.
    private static let mostLine = 65_536

    let client: SluiceClient
    /// The client of the stream. It uses the endpoint's TLS and follows no redirects, because they could leak tokens.
    let http: HTTPClient
    let table: String
    let spread: Duration
    let environment: SyncEnvironment
    let logger: Logger

    /// Follows until the task is cancelled. Calls `connected` when a stream begins, and `changed` for each event.
    func follow(connected: @Sendable () -> Void, changed: @Sendable () -> Void) async {
        var failures = 0
        while !Task.isCancelled {
            let hadEvents = Mutex(false)
            let end = await listen {
                hadEvents.withLock { $0 = true }
                connected()
            } changed: {
                changed()
            }
            if hadEvents.withLock({ $0 }) { failures = 0 }
            failures += 1
            let pause =
                end == .notOffered
                ? .seconds(3600) : Self.pause(after: failures, spread: spread, random: environment.random())
            guard (try? await environment.sleep(pause)) != nil else { return }
        }
    }

    /// Returns the pause before the next connection. Many devices lose a server at the same time, so each waits a
    /// random part of a pause that grows with the failures. It is at least the schedule's spread.
    static func pause(after failures: Int, spread: Duration, random: Double) -> Duration {
        min(maximumPause, max(spread, .seconds(1)) * (1 << min(failures - 1, 10))) * random
    }

    /// Holds one connection as long as it lasts.
    private func listen(connected: @Sendable () -> Void, changed: @Sendable () -> Void) async -> End {
        do {
            // The request goes through the client's chain up to the transport, so that it has the same headers and
            // credentials as any other.
            let catcher = RequestCatcher()
            _ = try await client.sending(through: catcher).send(request())
            guard let head = catcher.head else { return .broken }
            var outgoing = HTTPClientRequest(
                url: "\(head.scheme ?? "http")://\(head.authority ?? "")\(head.path ?? "/")")
            for field in head.headerFields { outgoing.headers.add(name: field.name.rawName, value: field.value) }
            let response = try await http.execute(outgoing, deadline: .now() + .seconds(30))
            let type = response.headers.first(name: "content-type") ?? ""
            guard response.status == .ok, type.hasPrefix("text/event-stream") else {
                return [.unauthorized, .tooManyRequests, .badGateway, .serviceUnavailable].contains(response.status)
                    ? .broken : .notOffered
            }
            logger.debug("the server's change events are followed", metadata: ["table": "\(table)"])
            connected()
            try await read(response.body, changed)
        } catch {
            if !Task.isCancelled {
                logger.debug("the stream of changes broke", metadata: ["table": "\(table)", "error": "\(error)"])
            }
        }
        return .broken
    }

    private func request() -> SyncRequest {
        let endpoint = client.endpoint
        var head = HTTPRequest(
            method: .get, scheme: endpoint.scheme, authority: endpoint.authority,
            path: endpoint.target(["tables", table, "changes"]))
        head.headerFields[.accept] = "text/event-stream"
        return SyncRequest(head, context: SyncRequest.Context(source: .pull, action: .custom, table: table))
    }

    /// Reads lines (WHATWG HTML, section 9.2) and looks for `event: changes`; the data is skipped.
    private func read(_ body: HTTPClientResponse.Body, _ changed: @Sendable () -> Void) async throws {
        let seen = LastSign()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while ContinuousClock.now - seen.time < Self.silence {
                    try await Task.sleep(for: .seconds(5))
                }
                throw SluiceError(.timeout, "the stream of changes was silent for too long")
            }
            defer { group.cancelAll() }
            var line: [UInt8] = []
            for try await piece in body {
                seen.time = .now
                for byte in piece.readableBytesView {
                    if byte != UInt8(ascii: "\n") {
                        if line.count < Self.mostLine { line.append(byte) }
                        continue
                    }
                    if line == Array("event: changes".utf8) { changed() }
                    line.removeAll(keepingCapacity: true)
                }
            }
        }
    }
}

/// The time of the stream's latest bytes.
private final class LastSign: Sendable {
    private let last = Mutex(ContinuousClock.now)

    var time: ContinuousClock.Instant {
        get { last.withLock { $0 } }
        set { last.withLock { $0 = newValue } }
    }
}

/// A transport that sends nothing and keeps the request built by the chain.
private final class RequestCatcher: Transport {
    private let caught = Mutex<HTTPRequest?>(nil)

    var head: HTTPRequest? { caught.withLock { $0 } }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        caught.withLock { $0 = request.head }
        return SyncResponse(HTTPResponse(status: .noContent))
    }
}
