internal import Foundation
internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// An address of an OAuth 2.0 server that takes forms and answers with JSON.
struct TokenEndpoint: Sendable {
    private let base: Endpoint
    private let path: String
    private let transport: any Transport

    /// The address in its normal form.
    var description: String { base.description }
    /// The whole address, as assertions name it.
    let url: String

    /// Reads the address.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an address that is neither https nor of this machine,
    ///   because secrets go there.
    init(_ url: String, named name: String, transport: any Transport) throws(SluiceError) {
        guard let parts = URLComponents(string: url), let host = parts.host,
            parts.scheme == "https" || ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
        else {
            throw SluiceError(.invalidArgument, "\(name) must be https, or of this machine: a secret goes there")
        }
        path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        var base = parts
        (base.path, base.query) = ("", nil)
        self.base = try Endpoint(base.string ?? url)
        (self.url, self.transport) = (url, transport)
    }

    /// Sends a form, and returns the answer's status and document.
    ///
    /// - Parameter client: the client's name and secret for HTTP Basic (RFC 6749 §2.3.1); nil for a client that has none.
    func post(
        _ form: [(name: String, value: String)], as client: (name: String, secret: String)? = nil
    ) async throws -> (status: Int, document: JSON?) {
        var head = HTTPRequest(method: .post, scheme: base.scheme, authority: base.authority, path: path)
        head.headerFields[.contentType] = "application/x-www-form-urlencoded"
        head.headerFields[.accept] = "application/json"
        if let client {
            let pair = "\(Self.encoded(client.name)):\(Self.encoded(client.secret))"
            head.headerFields[.authorization] = "Basic \(Base64.text(pair.utf8))"
        }
        let text = form.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
        var context = SyncRequest.Context()
        context.limits.responseBytes = 1 << 20
        context.limits.deadline = .seconds(30)
        let response = try await transport.send(
            SyncRequest(head, body: MessageBody(bytes: Array(text.utf8)), context: context))
        return (response.status, try? JSON(parsing: response.body.bytes))
    }

    /// Returns the error of a refusal. RFC 6749 §5.2: `error` is a fixed code of printable ASCII; the description is left
    /// out, because it may repeat sent secrets.
    static func refusal(_ status: Int, _ document: JSON?) -> SluiceError {
        let code = document?["error"]?.string.map {
            $0.prefix(64).filter { $0.isASCII && $0.isLetter || "_-.".contains($0) }
        }
        return SluiceError(
            .unauthorized, "the OAuth server refused a token: \(code.map { String($0) } ?? "status \(status)")",
            status: status)
    }

    /// Returns the text for `application/x-www-form-urlencoded`, with all but unreserved characters encoded.
    private static func encoded(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
