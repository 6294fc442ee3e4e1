internal import Foundation
internal import HTTPTypes
internal import Sluice
internal import SluicePolicy

/// Fetches a release from a web server: one conditional request each time, which a server may answer late (`Prefer:
/// wait`, RFC 7240), once there is something new.
struct PolicyDownload: Sendable {
    private let transport: any Transport
    private let endpoint: Endpoint
    private let path: String
    /// The time that a server may wait with its answer.
    private let wait: Duration
    private var tag: String?
    /// The file's time, for servers without tags.
    private var modified: String?

    /// - Throws: ``SluiceError`` of code `invalidArgument` for an address that is none.
    init(_ url: String, wait: Duration, over transport: any Transport) throws(SluiceError) {
        (endpoint, path) = try Self.parts(url)
        (self.wait, self.transport) = (wait, transport)
    }

    /// Returns the origin and the path with the query of an address. Plain http is allowed: a release is trusted for its
    /// signatures alone.
    static func parts(_ url: String) throws(SluiceError) -> (Endpoint, String) {
        guard var parts = URLComponents(string: url), parts.host != nil, parts.user == nil, parts.password == nil else {
            throw SluiceError(.invalidArgument, "expected an address such as https://example.com/policy.json")
        }
        let path =
            (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath)
            + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        (parts.path, parts.query, parts.fragment) = ("", nil, nil)
        return (try Endpoint(parts.string ?? url), path)
    }

    /// Returns the file; nil if it is the one of the last time.
    ///
    /// - Throws: ``SluiceError`` for a server that cannot be reached or has no file.
    mutating func file() async throws -> [UInt8]? {
        var head = HTTPRequest(method: .get, scheme: endpoint.scheme, authority: endpoint.authority, path: path)
        head.headerFields[.accept] = "application/json"
        if tag != nil || modified != nil {
            head.headerFields[.ifNoneMatch] = tag
            head.headerFields[.ifModifiedSince] = tag == nil ? modified : nil
            if wait >= .seconds(1), let name = HTTPField.Name("Prefer") {
                head.headerFields[name] = "wait=\(wait.components.seconds)"
            }
        }
        var context = SyncRequest.Context()
        context.limits.responseBytes = SignedRelease.maximumBytes
        context.limits.deadline = wait + .seconds(60)
        let response = try await transport.send(SyncRequest(head, context: context))
        switch response.status {
        case 304: return nil
        case 200:
            (tag, modified) = (response.head.headerFields[.eTag], response.head.headerFields[.lastModified])
            return response.body.bytes
        default:
            throw SluiceError(
                .serverFailure, "the server of the policy answered \(response.status)", status: response.status)
        }
    }

    /// Forgets the file: one that was refused for its time or audience may be taken later.
    mutating func forget() { (tag, modified) = (nil, nil) }
}
