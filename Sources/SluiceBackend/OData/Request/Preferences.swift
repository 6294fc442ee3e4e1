internal import HTTPTypes

/// What a client would like (`Prefer`, RFC 7240; OData 4.01 Protocol, section 8.2.8), and which of it was done.
struct Preferences: Sendable {
    /// Whether the answer to a change holds the entity; nil where the client has no wish.
    let returnsEntity: Bool?
    /// The most rows of a page.
    let pageSize: Int?
    /// Whether a list is to end with a delta link.
    let tracksChanges: Bool
    /// Whether a batch goes on after a request that failed.
    let continuesOnError: Bool

    init(_ headers: HTTPFields) {
        var wishes: [String: String] = [:]
        let fields = HTTPField.Name("Prefer").map { headers[values: $0] } ?? []
        for wish in fields.flatMap({ $0.split(separator: ",") }) {
            let sides = wish.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map {
                $0.filter { !" \t\"".contains($0) }.lowercased()
            }
            guard let name = sides.first else { continue }
            let bare = name.hasPrefix("odata.") ? String(name.dropFirst(6)) : name
            if wishes[bare] == nil { wishes[bare] = sides.count > 1 ? sides[1] : "true" }
        }
        switch wishes["return"] {
        case "representation": returnsEntity = true
        case "minimal": returnsEntity = false
        default:
            returnsEntity = wishes["return-content"] != nil ? true : wishes["return-no-content"] != nil ? false : nil
        }
        pageSize = wishes["maxpagesize"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        tracksChanges = wishes["track-changes"] != nil
        continuesOnError = wishes["continue-on-error"].map { $0 != "false" } ?? false
    }
}
