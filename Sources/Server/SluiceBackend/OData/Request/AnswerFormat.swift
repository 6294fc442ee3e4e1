internal import HTTPTypes
internal import SluiceCore

/// The requested form of an answer, from `$format` or else `Accept`.
struct AnswerFormat: Sendable, Hashable {
    /// The supported media types.
    enum Media: String, Sendable, Hashable {
        case json = "application/json"
        case xml = "application/xml"
        case atom = "application/atom+xml"
        case text = "text/plain"
    }

    /// The amount of metadata in a v4 answer.
    enum Metadata: String, Sendable, Hashable {
        case none, minimal, full
    }

    var media: Media
    var metadata = Metadata.minimal
    /// Whether 64-bit integers and decimals are written as texts.
    var isIEEE754Compatible = false

    /// A media range of `Accept`.
    private struct Range {
        var type: String
        var parameters: [String: String]
        var quality: Double
    }

    /// Returns the client's best medium among the given ones, which are in the server's order of preference; nil if it
    /// accepts none.
    init?(_ headers: HTTPFields, _ target: RequestTarget, among media: [Media]) {
        guard let first = media.first else { return nil }
        var ranges = headers[values: .accept].flatMap { $0.split(separator: ",") }.compactMap { Self.range(String($0)) }
        // `$format` overrides the header.
        if let format = target.values("$format").first {
            let words = ["json": "application/json", "xml": "application/xml", "atom": "application/atom+xml"]
            ranges = [words[format.lowercased()] ?? format].compactMap(Self.range)
        }
        if ranges.isEmpty { ranges = [Range(type: "*/*", parameters: [:], quality: 1)] }
        for range in ranges.filter({ $0.quality > 0 }).sorted(by: { $0.quality > $1.quality }) {
            guard let found = Self.match(range.type, media, first) else { continue }
            self.init(media: found)
            let level = range.parameters["odata.metadata"] ?? range.parameters["metadata"]
            if let level = level.flatMap(Metadata.init(rawValue:)) { metadata = level }
            isIEEE754Compatible = range.parameters["ieee754compatible"] == "true"
            return
        }
        return nil
    }

    init(media: Media) { self.media = media }

    private static func match(_ type: String, _ media: [Media], _ first: Media) -> Media? {
        switch type {
        case "*/*": first
        case "application/*": media.first { $0 != .text }
        case "text/*": media.first { $0 == .text }
        case "text/xml", "application/atomsvc+xml": media.first { $0 == .xml || $0 == .atom }
        case "application/xml": media.first { $0 == .xml } ?? media.first { $0 == .atom }
        default: media.first { $0.rawValue == type }
        }
    }

    private static func range(_ text: String) -> Range? {
        let parts = text.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        guard let type = parts.first, type.contains("/") else { return nil }
        var range = Range(type: type, parameters: [:], quality: 1)
        for part in parts.dropFirst() {
            let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { continue }
            if sides[0] == "q" { range.quality = Double(sides[1]) ?? 1 } else { range.parameters[sides[0]] = sides[1] }
        }
        return range
    }

    /// Returns the media type of a JSON answer in a version.
    func type(_ version: ServiceVersion) -> String {
        guard version != .v2 else { return "application/json" }
        // Both versions accept the long name.
        return "application/json;odata.metadata=\(metadata.rawValue)"
            + (isIEEE754Compatible ? ";IEEE754Compatible=true" : "")
    }
}
