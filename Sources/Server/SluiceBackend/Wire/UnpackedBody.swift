internal import HTTPTypes
internal import NIOCore
internal import NIOEmbedded
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import SluiceCore

/// Unpacks the body of a request that a client has packed with gzip, as answers say that it may (RFC 7694).
enum UnpackedBody {
    /// The field that says which codings of request bodies are taken.
    static let offer = HTTPField(name: .acceptEncoding, value: "gzip")

    /// Returns the body as it was before it was packed, and the request's head without the coding.
    ///
    /// - Parameter most: the largest size in bytes.
    /// - Throws: ``Refusal``: 415 for another coding, 400 for bytes that are no gzip, 413 for a larger body.
    static func read(_ body: ByteBuffer, of head: HTTPRequest, upTo most: Int) throws(Refusal) -> (HTTPRequest, [UInt8])
    {
        let codings = head.headerFields[values: .contentEncoding].filter { $0.lowercased() != "identity" }
        if codings.isEmpty { return (head, Array(body.readableBytesView)) }
        guard codings.count == 1, codings[0].lowercased() == "gzip" else {
            var refusal = Refusal(.unsupportedMediaType, "a body may be packed with gzip, and in no other way")
            refusal.headers.append(offer)
            throw refusal
        }
        var unpacked = head
        unpacked.headerFields[.contentEncoding] = nil
        do {
            return (unpacked, try unpack(body, upTo: most))
        } catch NIOHTTPDecompression.DecompressionError.limit {
            throw Refusal(.contentTooLarge, "the unpacked body is larger than \(most) bytes")
        } catch {
            throw Refusal(.badRequest, "the body is not packed with gzip as its head says")
        }
    }

    private static func unpack(_ body: ByteBuffer, upTo most: Int) throws -> [UInt8] {
        let channel = EmbeddedChannel(handler: NIOHTTPRequestDecompressor(limit: .size(most)))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: "/",
            headers: ["Content-Encoding": "gzip", "Content-Length": "\(body.readableBytes)"])
        var bytes: [UInt8] = []
        for part in [HTTPServerRequestPart.head(head), .body(body), .end(nil)] { try channel.writeInbound(part) }
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .body(let unpacked) = part { bytes += unpacked.readableBytesView }
        }
        return bytes
    }
}
