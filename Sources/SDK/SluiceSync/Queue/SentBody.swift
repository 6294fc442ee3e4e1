package import SluiceBase

/// What was sent for one revision of an operation: kept until the outcome is known.
package struct SentBody: Sendable, Hashable {
    /// The operation's revision.
    package var revision: Int
    /// The body as the engine made it, before any filter.
    package var request: JSON
    /// The body as it went out, after all filters; null where that is no JSON.
    package var final: JSON
    /// The local record at that time; nil where it was deleted.
    package var local: JSON?
    /// When it was sent for the first time: each repeat says so.
    package var firstSent: Timestamp
    /// A digest of the request as it went out, by which a repeat is known to be the same to the byte.
    package var digest: String
    /// The version of the server's record that was known here when it was sent for the first time, or by which it was
    /// refused since: what it brings about is later than that. Nil where none was known.
    package var known: String?
    /// Whether it went out under an id: not where the server has refused the one before.
    var isIdentified = true
    /// Whether a send of it ended without an answer that shows what became of it.
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
        // The filters rarely change a body: the one made before them is kept only where they did.
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
