package import HTTPTypes

/// Splits a `multipart/mixed` body (RFC 2046, section 5.1). Lines may end with LF alone, and text before the first
/// boundary is skipped.
package enum MultipartReader {
    /// The reason for refusing a body: `has more than 1000 parts`.
    package struct Refusal: Error, CustomStringConvertible {
        package let reason: String
        package var description: String { "the multipart body \(reason)" }
    }

    /// A part: its header fields with names in small letters, and its content.
    package struct Part {
        package var fields: [String: String]
        package var body: ArraySlice<UInt8>
    }

    /// A request or an answer, the content of a part of `application/http` (RFC 9112, section 2.1).
    package struct Message {
        /// The name of the message, `Content-ID`: services and clients write it in either place, or both.
        package let id: String?
        package let line: String
        package let fields: [String: String]
        package let body: [UInt8]
        /// Whether the body is shorter than its `Content-Length`.
        package let isCutOff: Bool
    }

    /// The most parts of one body, and the most header fields of one part.
    private static let (mostParts, mostFields) = (1000, 100)

    /// Returns the boundary of a media type; nil for another type, and for a missing or invalid boundary.
    package static func boundary(_ type: String?) -> String? {
        guard let type, type.prefix(while: { $0 != ";" }).lowercased().filter({ $0 != " " }) == "multipart/mixed" else {
            return nil
        }
        for parameter in type.split(separator: ";").dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\"" } }
            if sides.count == 2, sides[0].lowercased() == "boundary", (1...70).contains(sides[1].utf8.count) {
                return sides[1]
            }
        }
        return nil
    }

    /// Returns the parts of a body.
    ///
    /// - Throws: ``Refusal`` for a body whose last part does not end, and for too many parts.
    package static func parts(_ body: ArraySlice<UInt8>, boundary: String) throws(Refusal) -> [Part] {
        let delimiter = Array("--\(boundary)".utf8)
        var parts: [Part] = []
        var begin: Int?
        var index = body.startIndex
        while index < body.endIndex {
            let end = body[index...].firstIndex(of: UInt8(ascii: "\n")) ?? body.endIndex
            let line = trimmed(body[index..<end])
            let rest = line.starts(with: delimiter) ? line.dropFirst(delimiter.count) : nil
            if let rest, rest.isEmpty || rest.elementsEqual("--".utf8) {
                if let begin {
                    guard parts.count < mostParts else { throw Refusal(reason: "has more than \(mostParts) parts") }
                    parts.append(try part(body[begin..<max(begin, content(before: index, begin, body))]))
                }
                if !rest.isEmpty { return parts }
                begin = min(end + 1, body.endIndex)
            }
            index = min(end + 1, body.endIndex)
        }
        throw Refusal(reason: "does not end with its boundary")
    }

    /// Splits a part into its fields and the content after the empty line.
    package static func part(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> Part {
        var part = Part(fields: [:], body: bytes[bytes.endIndex...])
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let end = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            let line = trimmed(bytes[index..<end])
            index = min(end + 1, bytes.endIndex)
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), part.fields.count < mostFields else {
                throw Refusal(reason: "has a part with a line that is no header field")
            }
            let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            part.fields[name] = String(decoding: value, as: UTF8.self)
        }
        part.body = bytes[index...]
        return part
    }

    /// Returns the message in a part.
    package static func message(_ part: Part) throws(Refusal) -> Message {
        // Some services send an additional empty line before it.
        let bytes = part.body.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let inner = try self.part(bytes[min(end + 1, bytes.endIndex)...])
        let length = inner.fields["content-length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
        return Message(
            id: part.fields["content-id"] ?? inner.fields["content-id"],
            line: String(decoding: bytes[..<end].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self),
            fields: inner.fields, body: Array(inner.body.prefix(length ?? inner.body.count)),
            isCutOff: length ?? 0 > inner.body.count)
    }

    /// Returns the end of the content before a boundary, to which the preceding line break belongs.
    private static func content(before index: Int, _ begin: Int, _ body: ArraySlice<UInt8>) -> Int {
        var end = index
        if end > begin, body[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > begin, body[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return end
    }

    /// Returns a line without white space at its end.
    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last,
            last == UInt8(ascii: "\r") || last == UInt8(ascii: " ") || last == UInt8(ascii: "\t")
        {
            line.removeLast()
        }
        return line
    }
}

/// Writes a `multipart/mixed` body (RFC 2046, section 5.1), whose parts are HTTP messages or bodies of such a kind.
package struct MultipartWriter {
    private let boundary: String
    private var bytes: [UInt8] = []

    /// A body with a given boundary.
    package init(boundary: String) { self.boundary = boundary }

    /// A body with the first of several boundaries that occurs in none of the messages.
    package init(of messages: some Collection<[UInt8]>, boundary next: () -> String) {
        while true {
            let boundary = next()
            let line = Array("--\(boundary)".utf8)
            if messages.contains(where: { $0.contains(line) }) { continue }
            self.init(boundary: boundary)
            return
        }
    }

    /// The media type of the body.
    package var type: String { "multipart/mixed; boundary=\(boundary)" }

    /// The body with its end.
    package var body: [UInt8] { bytes + Array("--\(boundary)--\r\n".utf8) }

    /// Adds a part.
    package mutating func add(_ fields: [(String, String)], _ content: some Sequence<UInt8>) {
        bytes += "--\(boundary)\r\n".utf8
        for (name, value) in fields { bytes += "\(name): \(value)\r\n".utf8 }
        bytes += "\r\n".utf8
        bytes += content
        bytes += "\r\n".utf8
    }

    /// Adds an HTTP message. Its id is only told if it is valid in a header.
    package mutating func add(_ message: [UInt8], id: String?) {
        var fields = [("Content-Type", "application/http"), ("Content-Transfer-Encoding", "binary")]
        if let id, HTTPField.isValidValue(id) { fields.append(("Content-ID", id)) }
        add(fields, message)
    }

    /// Returns an HTTP message (RFC 9112, section 2.1) with its first line. A request without a body tells no length.
    package static func message(
        _ line: String, _ fields: some Sequence<HTTPField>, _ body: [UInt8], tellsLength: Bool = true
    ) -> [UInt8] {
        var head = "\(line)\r\n"
        for field in fields { head += "\(field.name.rawName): \(field.value)\r\n" }
        if tellsLength { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + body
    }
}
