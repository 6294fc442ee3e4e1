/// Percent-encoding (RFC 3986, section 2.1) of the parts of requests.
package enum PercentEncoding {
    /// Returns a table's name or an id as one segment of a path. Everything but RFC 3986's unreserved characters is
    /// encoded. So is the dot of `.` and `..`, because servers would resolve them as relative folders.
    package static func segment(_ text: String) -> String {
        if text == "." || text == ".." { return text.replacing(".", with: "%2E") }
        return encode(text) { _ in false }
    }

    /// The characters that the clients of Mobile Services and Mobile Apps have always sent unencoded in a query. The
    /// clients of Datasync encode them.
    package static let kept = "()'$,*"

    /// Returns a name or a value of a query, without encoding the characters of `kept`. A space is `%20` and a plus
    /// `%2B`, because servers read a bare plus as a space.
    package static func query(_ text: String, keeping kept: String = kept) -> String {
        encode(text) { kept.utf8.contains($0) }
    }

    /// Returns the text of an encoded name or value; `+` is a space. Broken escapes stay unchanged.
    package static func decoded(_ text: some StringProtocol) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2])
            {
                output.append(high << 4 | low)
                index += 3
            } else {
                output.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns an encoded query, repaired: characters that are not allowed there (RFC 3986, section 3.4) are encoded,
    /// and so is a `%` that begins no escape. Escapes stay.
    package static func mended(_ query: some StringProtocol) -> String {
        let bytes = Array(query.utf8)
        var output = ""
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && digit(bytes[index + 1]) != nil
                && digit(bytes[index + 2]) != nil
            if isEscape || isUnreserved(byte) || "!$&'()*+,;=/:@?".utf8.contains(byte) {
                output.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                output += escape(byte)
            }
        }
        return output
    }

    /// Returns the text with everything but ASCII encoded.
    package static func ascii(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? text : encode(text) { $0 < 0x80 }
    }

    private static func encode(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
        if text.utf8.allSatisfy({ isUnreserved($0) || isKept($0) }) { return text }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count * 3)
        for byte in text.utf8 {
            if isUnreserved(byte) || isKept(byte) {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "%"), figure(byte >> 4), figure(byte & 15)]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func figure(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }

    private static func escape(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

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
