/// A value of a JSON document that is read strictly. Every refusal names the document, the JSON pointer (RFC 6901), the
/// expected value and the actual one.
package typealias JSONPlace = StrictValue<JSONSource>

/// A value of a JSON document, with its position.
package struct JSONSource: StrictSource, Sendable {
    let value: JSON
    let document: String
    let pointer: String

    package static let longestText = 1_024

    package var text: String? { value.string }
    package var integer: Int? { value.int.flatMap { Int(exactly: $0) } }
    package var flag: Bool? { value.bool }
    package var elements: [JSONSource]? {
        value.elements?.enumerated().map { child($0.element, String($0.offset)) }
    }
    package var entries: [(name: String?, key: JSONSource, value: JSONSource)]? {
        value.members?.map { member in
            let place = child(member.value, member.name.text)
            return (member.name.text, place, place)
        }
    }

    /// Returns the value of the member, or of the element, with that name or index.
    func child(_ value: JSON, _ name: String) -> JSONSource {
        JSONSource(value: value, document: document, pointer: pointer + "/" + JSONPlace.escaped(name))
    }

    package func location(after characters: Int?) -> String {
        pointer.isEmpty ? document : "\(document) \(JSONPlace.printable(pointer))"
    }

    package func mismatch(_ expectation: String, of name: String) -> String {
        "expected \(expectation), found \(JSONPlace.words(for: value))"
    }

    package func wrongChoice(of allowed: [String], for name: String) -> String {
        let hint = text.flatMap { NearestKey.suggestion(for: $0, among: allowed) } ?? ""
        return mismatch("one of \(allowed.joined(separator: ", "))", of: name) + hint
    }

    package static func object(of known: [String]?) -> String { "an object" }

    package static func unknown(_ key: String, in name: String) -> String { "unknown name" }
}

extension JSONPlace {
    /// Creates the value at a JSON pointer. The document's name is at the start of refusals: `plugin.json`.
    package init(_ value: JSON, in document: String, at pointer: String = "") {
        self.init(JSONSource(value: value, document: document, pointer: pointer), document)
    }

    /// The value.
    package var value: JSON { source.value }
    /// The document's name at the start of refusals.
    package var document: String { source.document }
    /// The JSON pointer of the value; empty for the whole document.
    package var pointer: String { source.pointer }

    /// Returns the value of the member, or of the element, with that name or index.
    package func child(_ value: JSON, _ name: String) -> JSONPlace { JSONPlace(source.child(value, name), name) }

    /// Returns a name as a part of a JSON pointer.
    package static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }

    /// Returns a value for a person: a short scalar as it is written, anything else by its kind.
    package static func words(for value: JSON) -> String {
        switch value.kind {
        case .null: return "null"
        case .array: return value.count == 0 ? "an empty list" : "a list"
        case .object: return value.count == 0 ? "an empty object" : "an object"
        case .bool, .number, .string:
            let text = printable(value.description)
            return text.unicodeScalars.count <= 60 ? text : "a text of \(value.string?.utf8.count ?? text.count) bytes"
        }
    }

    /// Returns at most 200 characters of a text, with U+FFFD for those that would change the terminal or the line.
    static func printable(_ text: String) -> String {
        var printed = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(200) {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            printed.append(isControl || scalar.properties.isBidiControl ? "\u{FFFD}" : scalar)
        }
        return String(printed)
    }
}
