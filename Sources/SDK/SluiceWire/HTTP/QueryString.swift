/// The query of a request's path, as encoded parts that can be found and replaced by their decoded names. All other
/// parts stay unchanged, byte by byte.
package struct QueryString: Sendable, Hashable {
    /// The path before the query.
    package let base: String
    /// The parts between the `&`, encoded.
    package private(set) var parts: [String]

    /// Splits a path with its query.
    package init(ofPath path: String) {
        let bytes = path.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        base = String(path[..<end])
        parts = path[end...].utf8.dropFirst().split(separator: UInt8(ascii: "&")).map { String(Substring($0)) }
    }

    /// The path with the query.
    package var path: String { parts.isEmpty ? base : "\(base)?\(parts.joined(separator: "&"))" }

    /// The decoded value of the first part of that name. Setting it replaces the first part and removes the others.
    package subscript(name: String) -> String? {
        get { parts.first { Self.name(of: $0) == name }.map(Self.value) }
        set {
            let place = parts.firstIndex { Self.name(of: $0) == name } ?? parts.count
            parts.removeAll { Self.name(of: $0) == name }
            if let newValue { parts.insert("\(name)=\(PercentEncoding.query(newValue))", at: min(place, parts.count)) }
        }
    }

    /// Adds missing encoded parts, in front.
    package mutating func addMissing(_ others: some Sequence<String>) {
        let there = Set(parts.map { PercentEncoding.decoded($0) })
        parts = others.filter { !there.contains(PercentEncoding.decoded($0)) } + parts
    }

    /// Returns a part's name, decoded.
    package static func name(of part: String) -> String { PercentEncoding.decoded(part.prefix { $0 != "=" }) }

    private static func value(of part: String) -> String {
        part.firstIndex(of: "=").map { PercentEncoding.decoded(part[part.index(after: $0)...]) } ?? ""
    }
}
