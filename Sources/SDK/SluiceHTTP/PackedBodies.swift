internal import NIOCore
internal import NIOEmbedded
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import Synchronization

/// Packs request bodies with gzip for servers that take them: those whose answers have `gzip` in `Accept-Encoding` (RFC 7694,
/// section 3). A body that a server refuses so (415) is sent again as it is.
final class PackedBodies: Sendable {
    /// The servers known to all transports of the process.
    static let shared = PackedBodies()

    /// The smallest body that is packed, in bytes: a shorter one fits in a packet as it is.
    private static let least = 1024
    /// The largest number of remembered servers.
    private static let most = 1000

    private let takers = Mutex<Set<String>>([])

    /// Learns from an answer of the server.
    ///
    /// - Parameter server: its scheme and authority.
    func learn(from headers: HTTPHeaders, of server: String) {
        let codings = headers[canonicalForm: "Accept-Encoding"]
        if codings.isEmpty { return }
        let takes = codings.contains { $0.lowercased().split(separator: ";").first == "gzip" }
        takers.withLock { takers in
            if !takes { takers.remove(server) } else if takers.count < Self.most { takers.insert(server) }
        }
    }

    /// Sends further bodies to the server as they are.
    func forget(_ server: String) { takers.withLock { _ = $0.remove(server) } }

    /// Returns the body packed for the server; nil where it goes as it is.
    func packed(_ body: [UInt8], for server: String) -> [UInt8]? {
        guard body.count >= Self.least, takers.withLock({ $0.contains(server) }),
            let packed = try? Self.packed(body), packed.count < body.count
        else { return nil }
        return packed
    }

    /// Returns the bytes packed with gzip.
    static func packed(_ body: [UInt8]) throws -> [UInt8] {
        let channel = EmbeddedChannel(handler: NIOHTTPRequestCompressor(encoding: .gzip))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
        var packed: [UInt8] = []
        while let part = try channel.readOutbound(as: HTTPClientRequestPart.self) {
            if case .body(.byteBuffer(let bytes)) = part { packed += bytes.readableBytesView }
        }
        return packed
    }
}
