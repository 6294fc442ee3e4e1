internal import Foundation
internal import HTTPTypes
internal import Sluice

/// A request to one of the daemon's listeners.
struct LocalRequest: Sendable {
    var head: HTTPRequest
    var body: MessageBody

    /// The path without the query, decoded, in its parts.
    var segments: [String] {
        path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    }

    var path: Substring { (head.path ?? "/").prefix { $0 != "?" } }

    /// Returns the value of a query parameter in form encoding: a plus sign may be a blank.
    func parameter(_ name: String) -> String? {
        Self.value(of: name, in: (head.path ?? "").drop(while: { $0 != "?" }).dropFirst())
    }

    /// Returns the value of a field of the form in the body.
    func field(_ name: String) -> String? { Self.value(of: name, in: String(decoding: body.bytes, as: UTF8.self)[...]) }

    private static func value(of name: String, in form: Substring) -> String? {
        for pair in form.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.first.map({ decoded($0) == name }) ?? false else { continue }
            return parts.dropFirst().first.map(decoded) ?? ""
        }
        return nil
    }

    private static func decoded(_ text: Substring) -> String {
        let spaced = text.replacing("+", with: " ")
        return spaced.removingPercentEncoding ?? String(spaced)
    }
}

/// The answer to a ``LocalRequest``.
struct LocalReply: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var bytes: [UInt8]
    /// Sends the answer piece by piece, and waits while the reader is slow; nil for an answer that is whole.
    var stream: Stream?

    typealias Stream = @Sendable (_ send: ([UInt8]) async throws -> Void) async throws -> Void

    init(_ status: HTTPResponse.Status, headers: HTTPFields = [:], bytes: [UInt8] = []) {
        (self.status, self.headers, self.bytes) = (status, headers, bytes)
    }

    init(_ status: HTTPResponse.Status = .ok, json: JSON) {
        self.init(status, headers: [.contentType: "application/json"], bytes: json.bytes())
    }

    init(_ status: HTTPResponse.Status = .ok, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status, headers: [.contentType: type], bytes: Array(text.utf8))
    }

    /// A refusal as JSON: `{"error": {"code": …, "message": …}}`.
    static func refusal(_ status: HTTPResponse.Status, _ code: String, _ message: String) -> LocalReply {
        LocalReply(status, json: ["error": ["code": JSON(code), "message": JSON(message)]])
    }

    /// An error in the same form.
    static func refusal(_ error: any Error) -> LocalReply {
        let error = error as? SluiceError
        let status: HTTPResponse.Status =
            switch error?.code {
            case .invalidArgument: .badRequest
            case .storeBusy, .operationRefused, .operationsPending: .conflict
            case .network, .timeout, .cancelled: .serviceUnavailable
            default: .internalServerError
            }
        return refusal(
            status, error?.code.description ?? "unexpected",
            error.map { CommandText.reason($0) } ?? "the request failed")
    }
}
