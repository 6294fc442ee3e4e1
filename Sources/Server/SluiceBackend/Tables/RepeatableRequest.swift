internal import HTTPTypes
internal import SluiceCore

/// A change that its client may send again with the same id (OASIS Repeatable Requests 1.0): what it brought about is
/// remembered together with it, so that it happens once. Refusals are not remembered, for they left nothing behind.
struct RepeatableRequest: Sendable {
    /// The header that says whether the id was honoured.
    static let result = HTTPField.Name("Repeatability-Result")
    private static let longestID = 255

    /// The client and its id for the request.
    private var id: String
    /// When the client first sent it, by the client's clock.
    private let firstSent: Timestamp
    /// What is asked for: a repeat asks for the same.
    private let fingerprint: Int64
    /// For how long effects are remembered.
    private let window: Int64
    /// The user; ids are their own.
    var user = ""

    /// Nil for a request that is not marked as repeatable.
    ///
    /// - Throws: ``Refusal`` (400) for one that is not marked as the specification says.
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
        window = ExpiryInterval.ticks(request.served.configuration.requestIdsExpire)
    }

    /// The id of one of several changes that the request is made of.
    func part(_ index: Int) -> RepeatableRequest {
        var part = self
        part.id += "\n\(index)"
        return part
    }

    /// Method, path, wire, conditions and body, except for how they are written: a request that was sent within a batch
    /// may be repeated by itself.
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

    /// Refuses a request that may be a repeat of one that is no longer remembered.
    ///
    /// - Throws: ``Refusal`` (412).
    func checkAge(now: Timestamp) throws(Refusal) {
        guard firstSent.ticks >= now.ticks - window else {
            throw Self.refusal(
                .preconditionFailed,
                "the request was first sent longer ago than effects are remembered; it was not carried out now, and may "
                    + "have been then")
        }
    }

    /// What the request brought about, if it was carried out before.
    ///
    /// - Throws: ``Refusal`` (400) where the id was used for another request.
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

    /// Remembers what the request brings about, in the transaction that does it.
    func remember(_ effect: RememberedEffect, now: Timestamp, _ connection: any StorageConnection) throws {
        // By the later of both clocks: who is let in by checkAge(now:) is always found.
        let expires = Timestamp(ticks: max(now.ticks, firstSent.ticks) + window)
        try effect.insert(
            user: user, request: id, fingerprint: fingerprint, expires: expires, now: now, connection)
    }

    /// Puts the answer, as the hooks left it, in the place of what was remembered for them.
    func finish(_ reply: Reply, _ connection: any StorageConnection) throws {
        try RememberedEffect(reply: reply, stored: nil).update(user: user, request: id, connection)
    }

    /// Says on an answer, be it a refusal, that the id was honoured, unless it says that it was not.
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
