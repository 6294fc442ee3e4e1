/// A value as the language of its document has it: JSON or YAML. ``StrictValue`` reads it.
package protocol StrictSource {
    /// The length of the longest text, in bytes, if the reader gives no other.
    static var longestText: Int { get }

    /// The value as a text; nil if it is none.
    var text: String? { get }
    /// The value as a whole number; nil if it is none.
    var integer: Int? { get }
    /// The value as true or false; nil if it is neither.
    var flag: Bool? { get }
    /// The elements of a list; nil if the value is none.
    var elements: [Self]? { get }
    /// The members of an object, in order, each with the place of its name; nil if the value is none. The name is nil
    /// if it is no text.
    var entries: [(name: String?, key: Self, value: Self)]? { get }

    /// Returns the place of the value, as refusals begin. `characters` is the number of characters of its text before
    /// the mistake, if known.
    func location(after characters: Int?) -> String
    /// Returns the reason of a refusal with the expected value.
    func mismatch(_ expectation: String, of name: String) -> String
    /// Returns the reason of a refusal of a value that is none of the allowed texts.
    func wrongChoice(of allowed: [String], for name: String) -> String
    /// Returns the language's word for an object with known names, or with names of the author's choice.
    static func object(of known: [String]?) -> String
    /// Returns the reason of a refusal of an unknown name.
    static func unknown(_ key: String, in name: String) -> String
}

/// A value of a document that is read strictly, with its place. Every refusal names the place and the expected value.
/// An object is read by `members(_:)` with the names that it may have, and each member by its kind.
package struct StrictValue<Source: StrictSource> {
    /// The name of the value in refusals: `pageSize`, `table movies`.
    package let name: String
    /// The value as its document has it.
    package let source: Source
    private let keySource: Source?

    /// Creates a value; `key` is the place of its name.
    package init(_ source: Source, _ name: String, key: Source? = nil) {
        self.source = source
        self.name = name
        keySource = key
    }

    /// The place of the value's name.
    package var key: StrictValue { StrictValue(keySource ?? source, name) }

    /// The position of the value in its document: `file.yaml:12:3`, or `plugin.json /hooks`.
    package var location: String { source.location(after: nil) }

    /// Returns the same value under another name.
    package func named(_ name: String) -> StrictValue { StrictValue(source, name, key: keySource) }

    /// Returns the value as a text that is not empty.
    package func text(upTo longest: Int = Source.longestText) throws(SluiceError) -> String {
        guard let text = source.text else { throw expected("a text") }
        guard !text.isEmpty else { throw expected("a text that is not empty") }
        guard text.utf8.count <= longest else { throw expected("a text of at most \(longest) bytes") }
        return text
    }

    /// Returns the value as true or false.
    package func flag() throws(SluiceError) -> Bool {
        guard let flag = source.flag else { throw expected("true or false") }
        return flag
    }

    /// Returns the value as a whole number, in a range if one is given.
    package func integer(in range: ClosedRange<Int>? = nil) throws(SluiceError) -> Int {
        guard let integer = source.integer, range?.contains(integer) ?? true else {
            let limits = range.map { " from \($0.lowerBound) to \($0.upperBound)" } ?? ""
            throw expected("a whole number\(limits)")
        }
        return integer
    }

    /// Returns the value as one of the allowed texts.
    package func choice(of allowed: [String]) throws(SluiceError) -> String {
        guard let text = source.text, allowed.contains(text) else {
            throw refusal(source.wrongChoice(of: allowed, for: name))
        }
        return text
    }

    /// Returns the value as a case with its text.
    package func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ type: Choice.Type
    ) throws(SluiceError) -> Choice {
        guard let text = source.text, let choice = type.allCases.first(where: { $0.rawValue == text }) else {
            throw refusal(source.wrongChoice(of: type.allCases.map(\.rawValue), for: name))
        }
        return choice
    }

    /// Returns a refusal with the expected value.
    package func expected(_ expectation: String, _ hint: String = "") -> SluiceError {
        refusal(source.mismatch(expectation, of: name) + hint)
    }

    /// Returns a refusal of the value. `character` is the number of characters of its text before the mistake, if
    /// known.
    package func refusal(_ reason: String, table: String? = nil, character: Int? = nil) -> SluiceError {
        SluiceError(.invalidArgument, "\(source.location(after: character)): \(reason)", table: table)
    }
}

extension StrictValue: Sendable where Source: Sendable {}

extension StrictValue {
    /// Returns the value as a list of at most that many elements.
    package func items(upTo most: Int = .max) throws(SluiceError) -> [StrictValue] {
        guard let elements = source.elements else { throw expected("a list") }
        guard elements.count <= most else { throw expected("a list of at most \(most)") }
        return elements.enumerated().map { StrictValue($0.element, "\(name)[\($0.offset)]") }
    }

    /// Returns the value as a list. Each entry is a text or a list of texts.
    package func lists() throws(SluiceError) -> [[String]] {
        var lists: [[String]] = []
        for entry in try items() {
            let elements = entry.source.elements ?? [entry.source]
            let texts = elements.compactMap(\.text)
            guard !texts.isEmpty, texts.count == elements.count else {
                throw entry.refusal("each of \(name) is a text or a list of texts")
            }
            lists.append(texts)
        }
        return lists
    }

    /// Returns the members of an object in order, at most that many. Their names are chosen by the document's author.
    package func entries(upTo most: Int = .max) throws(SluiceError) -> [(name: String, value: StrictValue)] {
        try entries(as: Source.object(of: nil), upTo: most)
    }

    /// Returns the members of an object that has only known names.
    package func members(_ known: [String]) throws(SluiceError) -> [String: StrictValue] {
        var members: [String: StrictValue] = [:]
        for (key, value) in try entries(as: Source.object(of: known), upTo: .max) {
            guard known.contains(key) else {
                let hint =
                    NearestKey.suggestion(for: key, among: known) ?? "; known are \(known.joined(separator: ", "))"
                throw value.key.refusal(Source.unknown(key, in: name) + hint)
            }
            members[key] = value
        }
        return members
    }

    private func entries(
        as noun: String, upTo most: Int
    ) throws(SluiceError) -> [(name: String, value: StrictValue)] {
        guard let found = source.entries else { throw expected(noun) }
        guard found.count <= most else { throw expected("\(noun) of at most \(most) members") }
        var entries: [(name: String, value: StrictValue)] = []
        for (key, place, value) in found {
            guard let key else { throw StrictValue(place, name).refusal("a key of \(name) must be a text") }
            entries.append((key, StrictValue(value, key, key: place)))
        }
        return entries
    }
}
