internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// An operation's request after the filters. It can tell whether it repeats an earlier one.
struct FinalRequest: Sendable {
    let request: SyncRequest

    init(_ request: SyncRequest) { self.request = request }

    /// The body as a document, with the local values of properties that a codec has translated; null where it is not
    /// JSON, encrypted for example. Answers have local values too, and are compared with it.
    var document: JSON {
        var document = (try? request.body.json) ?? .null
        for (name, value) in request.context.untranslated?.members ?? [] where document[name] != nil {
            document[name] = value
        }
        return document
    }

    /// Returns the record that the request makes, where the engine has made `whole`: a filter may send a part of it by another
    /// method, on a wire that updates by PUT.
    func document(of whole: JSON, replacing: Bool) -> JSON {
        let document = document
        guard replacing, request.head.method != .put, let members = document.members else { return document }
        return members.reduce(into: whole) { $0[$1.name] = $1.value }
    }

    /// The hash of method, target, condition and body: a server that remembers request ids compares these.
    var digest: String { digest(of: request.body.bytes) }

    /// Returns the request to send as a repeat of `sent`, identical to the byte, or nil if it differs. If only the
    /// order of the body's members differs, the earlier body is sent, except where a codec has translated it.
    func repeating(_ sent: SentBody) -> SyncRequest? {
        if digest == sent.digest { return request }
        // A kept body has local values; a codec has to translate them again.
        guard request.context.untranslated == nil, document.kind == .object, document == sent.final else { return nil }
        let body = MessageBody(json: sent.final)
        guard digest(of: body.bytes) == sent.digest else { return nil }
        var request = request
        request.body = body
        return request
    }

    private func digest(of body: [UInt8]) -> String {
        let head = request.head
        let first = "\(head.method.rawValue) \(head.path ?? "")\n\(head.headerFields[.ifMatch] ?? "")\n"
        // It only distinguishes the client's own requests; it is no security measure.
        return String(FNV1a.hash(body, after: FNV1a.hash(first.utf8)), radix: 16)
    }
}

extension SentBody {
    /// Returns the request with its id, by which a server recognises a repeat: the header fields of OASIS "Repeatable
    /// Requests" version 1.0. A server without support ignores them.
    func identify(_ request: SyncRequest, as id: String) -> SyncRequest {
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
