internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
package import Sluice
internal import SluiceConfiguration

/// The address of a daemon's control socket.
package enum ControlAddress {
    /// The configured path; else `STORE.sock`, beside the first store.
    package static func path(_ values: SettingValues, store: String) throws -> String {
        try values.path("control.socket") ?? "\(store).sock"
    }
}

/// Asks a running daemon over its control socket.
package struct ControlClient: Sendable {
    private static let mostBytes = 16 << 20
    /// Without retries: a socket without a listener does not get one within a command's time.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    private let path: String

    /// The daemon whose socket is at that path.
    package init(socket path: String) { self.path = path }

    /// The daemon that holds a store; nil where none does.
    package static func of(store: String) -> ControlClient? {
        StoreHold.holder(of: store)?.socket.map { ControlClient(socket: $0) }
    }

    /// Asks the daemon that holds a store to push and pull now.
    ///
    /// - Returns: the holder and its answer; nil if no daemon holds the store.
    /// - Throws: ``SluiceError`` as ``ask(_:method:_:body:limit:)``.
    package static func sync(store: String) async throws -> (holder: StoreHold.Holder, answer: JSON)? {
        guard let holder = StoreHold.holder(of: store), let socket = holder.socket else { return nil }
        let answer = try await ControlClient(socket: socket).ask("sync", [("endpoint", holder.endpoint)])
        return (holder, answer)
    }

    /// Sends one request and waits for its answer.
    ///
    /// - Parameters:
    ///   - name: the name of the command, such as `status`.
    ///   - limit: the longest time to wait for the answer.
    /// - Throws: ``SluiceError`` of code `network` where no daemon listens there, or as the daemon refused.
    package func ask(
        _ name: String, method: String = "POST", _ parameters: [(String, String)] = [], body: JSON? = nil,
        limit: Duration = .seconds(600)
    ) async throws -> JSON {
        let bytes = try await send(name, method, parameters, body, limit)
        guard let json = try? JSON(parsing: bytes) else {
            throw SluiceError(.brokenProtocol, "the daemon's answer is not JSON")
        }
        return json
    }

    /// As ``ask(_:method:_:body:limit:)``, for answers that are text.
    package func text(_ name: String) async throws -> String {
        String(decoding: try await send(name, "GET", [], nil, .seconds(30)), as: UTF8.self)
    }

    private func send(
        _ name: String, _ method: String, _ parameters: [(String, String)], _ body: JSON?, _ limit: Duration
    ) async throws -> [UInt8] {
        var components = URLComponents()
        components.path = "/\(name)"
        if !parameters.isEmpty {
            components.queryItems = parameters.map { URLQueryItem(name: $0, value: $1) }
            // A plus sign stands for itself, not for a blank.
            components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        }
        guard let url = URL(httpURLWithSocketPath: path, uri: components.string ?? "/\(name)") else {
            throw SluiceError(.invalidArgument, "\(PlainText.line(path)) is no path of a socket")
        }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = .init(rawValue: method)
        if let body { request.body = .bytes(body.bytes()) }
        let response: HTTPClientResponse
        do {
            response = try await Self.client.execute(
                request, timeout: .nanoseconds(limit.wholeNanoseconds))
        } catch {
            throw SluiceError(
                .network, "no daemon answers at \(PlainText.line(path)); is it running, and may this user reach it?",
                cause: error)
        }
        let bytes = Array(try await response.body.collect(upTo: Self.mostBytes).readableBytesView)
        guard response.status.code < 300 else {
            let error = (try? JSON(parsing: bytes))?["error"]
            let code = Self.code(error?["code"]?.string, Int(response.status.code))
            throw SluiceError(code, error?["message"]?.string ?? "the daemon answered with \(response.status.code)")
        }
        return bytes
    }

    /// The code that the daemon gave, so that an error means the same with a daemon and without.
    private static func code(_ name: String?, _ status: Int) -> SluiceError.Code {
        if let code = name.flatMap({ SluiceError.Code($0) }) { return code }
        return status < 500 ? .invalidArgument : .serverFailure
    }
}
