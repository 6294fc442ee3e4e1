internal import HTTPTypes
internal import SluiceCore

/// A change that its client may repeat with the same id (OASIS Repeatable Requests 1.0). Its effect is remembered in
/// the transaction of the change, so that it happens only once. Refusals are not remembered, because they change
/// nothing.
struct RepeatableRequest: Sendable {
    /// The header that reports if the id was honoured.
    static let result = HTTPField.Name("Repeatability-Result")
    private static let longestID = 255

    /// The client's id together with its id of the request.
    private var id: String
    /// The time of the first send, by the client's clock.
    private let firstSent: Timestamp
    /// The fingerprint of the request's content, which must be the same in a repeat.
    private let fingerprint: Int64
    /// The time for which effects are remembered.
    private let window: Duration
    /// The user; each user has separate ids.
    var user = ""

    /// Reads the id of a request; nil for one that is not marked as repeatable.
    ///
    /// - Throws: ``Refusal`` (400) for an invalid mark.
    init?(_ request: TableRequest) throws(Refusal) {
        let (ids, times) = (request.fields("Repeatability-Request-ID"), request.fields("Repeatability-First-Sent"))
        guard !ids.isEmpty || !times.isEmpty else { return nil }
        guard let id = ids.first, ids.count == 1, !id.isEmpty, id.utf8.count <= Self.longestID,
            id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw Self.refusal(
                .badRequest, "Repeatability-Request-ID is 1 to \(Self.longestID) characters of ASCII, without spaces")
        }
        guard let text = times.first, times.count == 1, let firstSent = HTTPDate.timestamp(text) else {
            throw Self.refusal(
                .badRequest, "Repeatability-First-Sent is a date such as Mon, 06 May 2024 07:08:09 GMT")
        }
        let client = request.fields("Repeatability-Client-ID").joined(separator: ",")
        guard client.utf8.count <= Self.longestID else {
            throw Self.refusal(.badRequest, "Repeatability-Client-ID has \(Self.longestID) bytes at the most")
        }
        self.id = client + "\n" + id
        self.firstSent = firstSent
        fingerprint = Self.fingerprint(request)
        window = request.served.configuration.requestIdsExpire
    }

    /// Returns the id of one of the request's several changes.
    func part(_ index: Int) -> RepeatableRequest {
        var part = self
        part.id += "\n\(index)"
        return part
    }

    /// Returns the fingerprint of method, path, wire, conditions and body. It ignores their notation, because a request
    /// of a batch may be repeated on its own.
    private static func fingerprint(_ request: TableRequest) -> Int64 {
        var parts = [request.head.method.rawValue, request.wire.name] + request.target.segments
        for (name, value) in request.target.parameters where name.lowercased() != "zumo-api-version" {
            parts += [name, value]
        }
        for name in ["If-Match", "If-None-Match", "If-Unmodified-Since", "If-Modified-Since"] {
            parts.append(request.fields(name).joined(separator: ","))
        }
        let body = request.request.body
        let bytes = body.isEmpty ? [] : (try? body.json.bytes()) ?? body.bytes
        return Int64(bitPattern: FNV1a.hash(bytes, after: Fingerprint.of(parts)))
    }

    /// Refuses a request that is too old, because the effect of its first send may be forgotten.
    ///
    /// - Throws: ``Refusal`` (412).
    func checkAge(now: Timestamp) throws(Refusal) {
        guard firstSent >= now.advanced(by: .zero - window) else {
            throw Self.refusal(
                .preconditionFailed,
                "the request was first sent longer ago than effects are remembered; it was not carried out now, and may "
                    + "have been then")
        }
    }

    /// Returns the remembered effect of the request, if it was executed before.
    ///
    /// - Throws: ``Refusal`` (400) if the id was used for another request.
    func effect(_ connection: any StorageConnection) throws -> RememberedEffect? {
        guard
            let (fingerprint, effect) = try RememberedEffect.find(user: user, request: id, connection)
        else { return nil }
        guard fingerprint == self.fingerprint else {
            throw Self.refusal(
                .badRequest, "the Repeatability-Request-ID was used before, for another method, path, condition or body"
            )
        }
        return effect
    }

    /// Stores the effect of the request, in the transaction of the change.
    func remember(_ effect: RememberedEffect, now: Timestamp, _ connection: any StorageConnection) throws {
        // The later of both clocks counts, so that the effect of a request that checkAge(now:) accepts still exists.
        let expires = max(now, firstSent).advanced(by: window)
        try effect.insert(
            user: user, request: id, fingerprint: fingerprint, expires: expires, now: now, connection)
    }

    /// Replaces the remembered record with the answer after the hooks.
    func finish(_ reply: Reply, _ connection: any StorageConnection) throws {
        try RememberedEffect(reply: reply, stored: nil).update(user: user, request: id, connection)
    }

    /// Marks an answer or a refusal as honouring the id, unless it has another mark.
    static func accept(_ headers: inout HTTPFields) {
        if let result, headers[result] == nil { headers[result] = "accepted" }
    }

    private static func refusal(_ status: HTTPResponse.Status, _ reason: String) -> Refusal {
        var refusal = Refusal(status, reason)
        if let result { refusal.headers[result] = "rejected" }
        return refusal
    }
}

extension TableRequest {
    /// The values of a header.
    fileprivate func fields(_ name: String) -> [String] {
        HTTPField.Name(name).map { head.headerFields[values: $0] } ?? []
    }
}
