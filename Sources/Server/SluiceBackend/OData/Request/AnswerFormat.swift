internal import HTTPTypes
internal import SluiceCore

/// The version of OData for an answer.
enum ServiceVersion: Sendable, Hashable {
    case v2
    /// 4.0, for clients that declare no later one.
    case v40
    case v401

    /// The segments of the service's root.
    var root: [String] { self == .v2 ? ["odata", "v2"] : ["odata", "v4"] }

    /// The wire for reading and changing the tables.
    var wire: ServerWire { self == .v2 ? .odataV2 : .odataV4 }

    /// The name and value of the version header in an answer.
    var header: (name: String, value: String) {
        switch self {
        case .v2: ("DataServiceVersion", "2.0")
        case .v40: ("OData-Version", "4.0")
        case .v401: ("OData-Version", "4.01")
        }
    }

    /// Returns the version of a request below the given root.
    ///
    /// - Throws: ``Refusal`` (400) if the client supports none of the versions (OData 4.01 Protocol, section 8.2.7;
    ///   OData v2, Overview, section 5).
    static func of(_ headers: HTTPFields, isV2: Bool) throws(Refusal) -> ServiceVersion {
        func number(_ name: String) -> Double? {
            // Microsoft's client appends a semicolon and a mark.
            HTTPField.Name(name).flatMap { headers[$0] }.flatMap { Double($0.prefix { $0 != ";" && $0 != " " }) }
        }
        if isV2 {
            if let most = number("MaxDataServiceVersion"), most < 1 { throw unknown("MaxDataServiceVersion") }
            if let version = number("DataServiceVersion"), version > 2 { throw unknown("DataServiceVersion") }
            return .v2
        }
        if let version = number("OData-Version"), version < 4 || version > 4.01 { throw unknown("OData-Version") }
        guard let most = number("OData-MaxVersion") else { return .v401 }
        if most < 4 { throw unknown("OData-MaxVersion") }
        return most < 4.01 ? .v40 : .v401
    }

    private static func unknown(_ header: String) -> Refusal {
        Refusal(.badRequest, "\(header) asks for a version that is not served; there are 2.0, 4.0 and 4.01")
    }
}

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
