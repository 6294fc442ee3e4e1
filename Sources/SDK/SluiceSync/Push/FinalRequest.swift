internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// An operation's request as it leaves the filters, and whether it repeats one that was sent before.
struct FinalRequest: Sendable {
    let request: Request

    init(_ request: Request) { self.request = request }

    /// The body as a document; null where it is not JSON, encrypted for example.
    var document: JSON { (try? request.body.json) ?? .null }

    /// Of method, target, condition and body: what a server compares that remembers request ids.
    var digest: String { digest(of: request.body.bytes) }

    /// The request to send as a repeat of `sent`, the same to the byte, or nil if it is another. A body that differs
    /// only in the order of its members goes out as it did before.
    func repeating(_ sent: SentBody) -> Request? {
        if digest == sent.digest { return request }
        guard document.kind == .object, document == sent.final else { return nil }
        let body = Body(json: sent.final)
        guard digest(of: body.bytes) == sent.digest else { return nil }
        var request = request
        request.body = body
        return request
    }

    private func digest(of body: [UInt8]) -> String {
        let head = request.head
        let first = "\(head.method.rawValue) \(head.path ?? "")\n\(head.headerFields[.ifMatch] ?? "")\n"
        // It distinguishes one's own requests, and is no protection.
        return String(FNV1a.hash(body, after: FNV1a.hash(first.utf8)), radix: 16)
    }
}

extension SentBody {
    /// The request with its id, by which a server knows a repeat again: the header fields of OASIS "Repeatable
    /// Requests" version 1.0. A server that does not know them leaves them alone.
    func identify(_ request: Request, as id: String) -> Request {
        var request = request
        request.context.operationID = id
        guard isIdentified else { return request }
        for (name, value) in [
            ("Repeatability-Request-ID", id), ("Repeatability-First-Sent", HTTPDate.text(firstSent)),
        ] {
            if let name = HTTPField.Name(name) { request.head.headerFields[name] = value }
        }
        return request
    }
}
