/// A value of a JSON document that is read strictly, with its position. Every refusal names the document, the JSON
/// pointer (RFC 6901), the expected value and the actual one.
package struct JSONPlace {
    /// The value.
    package let value: JSON
    /// The document's name at the start of refusals: `plugin.json`.
    package let document: String
    /// The JSON pointer of the value; empty for the whole document.
    package let pointer: String

    /// Creates the value at a JSON pointer.
    package init(_ value: JSON, in document: String, at pointer: String = "") {
        self.value = value
        self.document = document
        self.pointer = pointer
    }

    /// Returns the value of the member, or of the element, with that name or index.
    package func child(_ value: JSON, _ name: String) -> JSONPlace {
        JSONPlace(value, in: document, at: pointer + "/" + Self.escaped(name))
    }

    /// Returns a name as a part of a JSON pointer.
    package static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }

    /// Returns the value as a text of 1 to `longest` bytes.
    package func text(upTo longest: Int = 1_024) throws(SluiceError) -> String {
        guard let text = value.string else { throw expected("a text") }
        guard !text.isEmpty else { throw expected("a text that is not empty") }
        guard text.utf8.count <= longest else { throw expected("a text of at most \(longest) bytes") }
        return text
    }

    /// Returns the value as true or false.
    package func flag() throws(SluiceError) -> Bool {
        guard let flag = value.bool else { throw expected("true or false") }
        return flag
    }

    /// Returns the value as a whole number in a range.
    package func integer(in range: ClosedRange<Int>) throws(SluiceError) -> Int {
        guard let integer = value.int, let number = Int(exactly: integer), range.contains(number) else {
            throw expected("a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns the value as one of the allowed texts.
    package func choice(of allowed: [String]) throws(SluiceError) -> String {
        guard let text = value.string, allowed.contains(text) else {
            let hint = value.string.flatMap { NearestKey.suggestion(for: $0, among: allowed) } ?? ""
            throw expected("one of \(allowed.joined(separator: ", "))", hint)
        }
        return text
    }

    /// Returns the value as a list of at most that many elements.
    package func elements(upTo most: Int) throws(SluiceError) -> [JSONPlace] {
        guard value.kind == .array else { throw expected("a list") }
        guard value.count <= most else { throw expected("a list of at most \(most)") }
        return (value.elements ?? []).enumerated().map { child($0.element, String($0.offset)) }
    }

    /// Returns the members of an object in order, at most that many. Their names are chosen by the document's author.
    package func entries(upTo most: Int) throws(SluiceError) -> [(name: String, place: JSONPlace)] {
        guard value.kind == .object else { throw expected("an object") }
        guard value.count <= most else { throw expected("an object of at most \(most) members") }
        return (value.members ?? []).map { ($0.name.text, child($0.value, $0.name.text)) }
    }

    /// Returns the members of an object that has only known names.
    package func members(_ known: [String]) throws(SluiceError) -> [String: JSONPlace] {
        guard value.kind == .object else { throw expected("an object") }
        var members: [String: JSONPlace] = [:]
        for name in value.names.map(\.text) {
            guard known.contains(name) else {
                let hint =
                    NearestKey.suggestion(for: name, among: known) ?? "; known are \(known.joined(separator: ", "))"
                throw child(.null, name).refusal("unknown name\(hint)")
            }
            members[name] = value[name].map { child($0, name) }
        }
        return members
    }

    /// Returns a refusal with the expected value and the actual one.
    package func expected(_ expectation: String, _ hint: String = "") -> SluiceError {
        refusal("expected \(expectation), found \(Self.words(for: value))\(hint)")
    }

    /// Returns a refusal of the value.
    package func refusal(_ reason: String) -> SluiceError {
        let place = pointer.isEmpty ? "" : " \(Self.printable(pointer))"
        return SluiceError(.invalidArgument, "\(document)\(place): \(reason)")
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

/// Suggests a known name in the place of an unknown one.
package enum NearestKey {
    /// Returns `; did you mean NAME?`, if a known name is near enough.
    package static func suggestion(for word: String, among known: [String]) -> String? {
        // A text too long for a name is not compared.
        guard word.utf8.count <= 64 else { return nil }
        let best = known.map { ($0, distance(word.lowercased(), $0.lowercased())) }.min { $0.1 < $1.1 }
        guard let (name, distance) = best, distance <= max(1, name.count / 3) else { return nil }
        return "; did you mean \(name)?"
    }

    /// Returns the number of characters to insert, remove, replace or swap with their neighbour to turn one text into
    /// the other (Damerau and Levenshtein, each position touched once).
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left)
        let right = Array(right)
        var last: [Int] = []
        var row = Array(0...right.count)
        for index in left.indices {
            var next = [index + 1]
            for column in right.indices {
                let replaced = row[column] + (left[index] == right[column] ? 0 : 1)
                var best = min(replaced, next[column] + 1, row[column + 1] + 1)
                if index > 0, column > 0, left[index] == right[column - 1], left[index - 1] == right[column] {
                    best = min(best, last[column - 1] + 1)
                }
                next.append(best)
            }
            (last, row) = (row, next)
        }
        return row[right.count]
    }
}
