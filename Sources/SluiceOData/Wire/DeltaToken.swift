internal import SluiceBase

/// Where a read that follows changes goes on, as the text that a pull saves.
///
/// A read by delta links is a chain of pages that link to the next, and at its end a link to what changes from then on.
/// A pull saves one token after each page, whichever of both it is.
enum DeltaToken: Sendable, Hashable {
    /// The next page, and the first delta link that a page before it carried. Some services put one on every page, and
    /// the later ones leave out what changed while the pages were read.
    case page(String, changes: String?)
    /// What has changed since.
    case changes(String)
    /// Nothing more now; the next read asks for what has changed since. It needs no request, and ends the run.
    case end(String)

    /// Reads a saved token; nil for what is none.
    init?(_ text: String) {
        guard let json = try? JSON(parsing: Array(text.utf8)) else { return nil }
        if let link = json["next"]?.string {
            self = .page(link, changes: json["changes"]?.string)
        } else if let link = json["changes"]?.string {
            self = json["end"]?.bool == true ? .end(link) : .changes(link)
        } else {
            return nil
        }
    }

    /// The token as text: ASCII, as a header field wants it.
    var text: String {
        var json = JSON.object
        switch self {
        case .page(let link, let changes):
            json["next"] = JSON(link)
            if let changes { json["changes"] = JSON(changes) }
        case .changes(let link): json["changes"] = JSON(link)
        case .end(let link):
            json["changes"] = JSON(link)
            json["end"] = JSON(true)
        }
        return String(decoding: json.bytes(), as: UTF8.self)
    }
}
