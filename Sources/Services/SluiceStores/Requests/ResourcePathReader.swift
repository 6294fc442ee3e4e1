internal import SluiceBase

/// Reads an address below a service's root: the path's segments, and the unchanged query after them.
struct ResourcePathReader {
    private(set) var path = ResourcePath(segments: [])
    /// The text after the question mark, still percent-encoded.
    private(set) var query = ""

    /// A byte of the path, and whether it was escaped: an escaped slash separates nothing.
    private struct Character {
        var byte: UInt8
        var isEscaped: Bool
    }

    /// - Throws: ``SluiceError`` of code `invalidQuery`, with the reason.
    init(_ text: Substring) throws(SluiceError) {
        guard text.utf8.count <= ResourcePath.maximumLength + ODataOptions.maximumLength else {
            throw Self.refusal("is too long")
        }
        var segments: [[Character]] = [[]]
        var isQuoted = false
        let bytes = Array(text.utf8)
        var index = 0
        while index < bytes.count {
            var character = Character(byte: bytes[index], isEscaped: false)
            index += 1
            if character.byte == UInt8(ascii: "%"), index + 1 < bytes.count,
                let value = UInt8(String(decoding: bytes[index...index + 1], as: UTF8.self), radix: 16)
            {
                character = Character(byte: value, isEscaped: true)
                index += 2
            }
            if character.byte == UInt8(ascii: "'") { isQuoted.toggle() }
            if !isQuoted, !character.isEscaped {
                if character.byte == UInt8(ascii: "?") {
                    query = String(decoding: bytes[index...], as: UTF8.self)
                    break
                }
                if character.byte == UInt8(ascii: "#") { throw Self.refusal("has a fragment") }
                if character.byte == UInt8(ascii: "/") {
                    segments.append([])
                    continue
                }
            }
            segments[segments.count - 1].append(character)
        }
        if isQuoted { throw Self.refusal("has a quote that is not closed") }
        // A slash at the end, or two in a row, make no difference.
        let filled = segments.filter { !$0.isEmpty }
        guard !filled.isEmpty else { throw Self.refusal("names no table") }
        guard filled.count <= ResourcePath.maximumSegments else { throw Self.refusal("has too many segments") }
        path.segments = try filled.map { characters throws(SluiceError) in try Self.segment(characters.map(\.byte)) }
    }

    private static func segment(_ bytes: [UInt8]) throws(SluiceError) -> ResourcePath.Segment {
        guard let open = bytes.firstIndex(of: UInt8(ascii: "(")) else {
            return ResourcePath.Segment(try name(bytes[...]))
        }
        guard bytes.last == UInt8(ascii: ")") else { throw refusal("has a parenthesis that is not closed") }
        var parts: [[UInt8]] = [[]]
        var isQuoted = false
        for byte in bytes[(open + 1)..<(bytes.count - 1)] {
            if byte == UInt8(ascii: "'") { isQuoted.toggle() }
            if byte == UInt8(ascii: ","), !isQuoted {
                parts.append([])
            } else {
                parts[parts.count - 1].append(byte)
            }
        }
        if parts == [[]] { parts = [] }
        let arguments = try parts.map { part throws(SluiceError) in try argument(part) }
        return ResourcePath.Segment(try name(bytes[..<open]), arguments: arguments)
    }

    private static func argument(_ bytes: [UInt8]) throws(SluiceError) -> TableQuery.Argument {
        var name: String?
        var value = bytes[...]
        let start = bytes.prefix(while: isNameByte)
        if bytes.dropFirst(start.count).first == UInt8(ascii: "=") {
            name = String(decoding: start, as: UTF8.self)
            value = bytes.dropFirst(start.count + 1)
        }
        let text = String(decoding: value, as: UTF8.self)
        do throws(TableQuery.SyntaxError) {
            return TableQuery.Argument(name, try QueryExpression(odata: text))
        } catch {
            throw SluiceError(.invalidQuery, "the address has \(text) where a constant is due", cause: error)
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func name(_ bytes: ArraySlice<UInt8>) throws(SluiceError) -> String {
        let name = String(decoding: bytes, as: UTF8.self)
        guard !name.isEmpty, !name.contains("'"), !name.contains(")") else {
            throw refusal("has a segment without a name")
        }
        // These would lead out of the service.
        guard name != ".", name != ".." else { throw refusal("goes up in the tree of the service's host") }
        return name
    }

    private static func refusal(_ reason: String) -> SluiceError {
        SluiceError(.invalidQuery, "the address \(reason)")
    }
}
