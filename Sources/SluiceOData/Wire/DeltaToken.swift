internal import SluiceBase
internal import SluiceWire

/// Where a read that follows changes goes on, as the text that a pull saves.
///
/// A read by delta links is a chain of pages that link to the next, and at its end a link to what changes from then on. A
/// pull saves one token after each page, whichever of both it is.
enum DeltaToken: Sendable, Hashable {
    /// The next page, and the first delta link that a page before it carried. Some services put one on every page, and the
    /// later ones leave out what changed while the pages were read. `ofChanges`: the page is one of a delta link's answer.
    case page(String, changes: String?, ofChanges: Bool = false)
    /// What has changed since.
    case changes(String)

    /// Reads a saved token; nil if it is not valid.
    init?(_ text: String) {
        guard let json = try? JSON(parsing: Array(text.utf8)) else { return nil }
        if let link = json["next"]?.string {
            self = .page(link, changes: json["changes"]?.string, ofChanges: json["delta"]?.bool ?? false)
        } else if let link = json["changes"]?.string {
            self = .changes(link)
        } else {
            return nil
        }
    }

    /// Whether it is a page in the middle of a read.
    var isPage: Bool { if case .page = self { true } else { false } }

    /// The link to ask for, whether it answers with changes, and the delta link that is kept for the end.
    var parts: (link: String, isOfChanges: Bool, kept: String?) {
        switch self {
        case .page(let link, let changes, let ofChanges): (link, ofChanges, changes)
        case .changes(let link): (link, true, nil)
        }
    }

    /// The token as text: ASCII, as a header field wants it.
    var text: String {
        var json = JSON.object
        func ascii(_ link: String) -> JSON {
            JSON(PercentEncoding.mended(String(link.unicodeScalars.prefix { $0 != "#" })))
        }
        switch self {
        case .page(let link, let changes, let ofChanges):
            json["next"] = ascii(link)
            if let changes { json["changes"] = ascii(changes) }
            if ofChanges { json["delta"] = JSON(true) }
        case .changes(let link): json["changes"] = ascii(link)
        }
        return String(decoding: json.bytes(), as: UTF8.self)
    }
}
