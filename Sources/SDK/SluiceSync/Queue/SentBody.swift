package import SluiceBase

/// The sent body of one revision of an operation, kept until the outcome is known.
package struct SentBody: Sendable, Hashable {
    /// The operation's revision.
    package var revision: Int
    /// The body as the engine made it, before any filter.
    package var request: JSON
    /// The body after all filters, with local values where a codec has translated them; null where it is no JSON.
    package var final: JSON
    /// The local record at that time; nil where it was deleted.
    package var local: JSON?
    /// The time of the first send, which each repeat reports.
    package var firstSent: Timestamp
    /// A digest of the sent request, which shows that a repeat is the same to the byte.
    package var digest: String
    /// The version of the server's record known at the first send, or by which it was refused since. A result of the
    /// send is later than that version. Nil where none was known.
    package var known: String?
    /// Whether it was sent under a request id. It was not if the server had refused the id of the send before.
    var isIdentified = true
    /// Whether a send of it ended without an answer that shows its outcome.
    package var mayBeDone = false

    package init(
        revision: Int, request: JSON, final: JSON, local: JSON?, firstSent: Timestamp = Timestamp(ticks: 0),
        digest: String = ""
    ) {
        self.revision = revision
        self.request = request
        self.final = final
        self.local = local
        self.firstSent = firstSent
        self.digest = digest
    }
}

extension SentBody {
    var json: JSON {
        var json: JSON = [
            "revision": JSON(revision), "final": final, "firstSent": JSON(firstSent.description),
            "digest": JSON(digest),
        ]
        // Filters rarely change a body, so the one before them is kept only where it differs.
        if request != final { json["request"] = request }
        if let local { json["local"] = local }
        if let known { json["known"] = JSON(known) }
        if !isIdentified { json["identified"] = false }
        if mayBeDone { json["mayBeDone"] = true }
        return json
    }

    init?(json: JSON) {
        guard let revision = json["revision"]?.int, let final = json["final"] else { return nil }
        self.init(
            revision: Int(revision), request: json["request"] ?? final, final: final, local: json["local"],
            firstSent: json["firstSent"]?.string.flatMap { Timestamp($0) } ?? Timestamp(ticks: 0),
            digest: json["digest"]?.string ?? "")
        known = json["known"]?.string
        isIdentified = json["identified"]?.bool ?? true
        mayBeDone = json["mayBeDone"]?.bool ?? false
    }
}
