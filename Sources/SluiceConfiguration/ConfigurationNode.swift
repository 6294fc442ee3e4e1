package import SluiceCore
internal import Yams

/// A value of a configuration, with its place in the file.
package struct ConfigurationNode {
    /// What the value is, as refusals call it: `pageSize`, `table movies`.
    package let name: String
    let node: Node
    let file: ConfigurationFile

    init(_ node: Node, _ name: String, of file: ConfigurationFile) {
        self.node = node
        self.name = name
        self.file = file
    }

    /// Whether the value is left out or `null`.
    package var isNull: Bool {
        guard let scalar = node.scalar, scalar.style == .plain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// Whether the value is a mapping.
    package var isMapping: Bool { node.mapping != nil }

    /// The value as a text that is not empty.
    package func text() throws(SluiceError) -> String {
        guard let text = node.scalar?.string, !text.isEmpty, !isNull else { throw refusal("\(name) must be a text") }
        return text
    }

    /// The value as a whole number.
    package func integer() throws(SluiceError) -> Int {
        guard let value = node.int else { throw refusal("\(name) must be a whole number") }
        return value
    }

    /// The value as true or false.
    package func flag() throws(SluiceError) -> Bool {
        guard let value = node.bool else { throw refusal("\(name) must be true or false") }
        return value
    }

    /// The value as one of the texts that are allowed.
    package func choice(of allowed: [String]) throws(SluiceError) -> String {
        let text = try text()
        guard allowed.contains(text) else {
            let hint = NearestKey.suggestion(for: text, among: allowed) ?? "; use \(allowed.joined(separator: ", "))"
            throw refusal("\(name) cannot be \(text)\(hint)")
        }
        return text
    }

    /// The value as a list of which each entry is a text or a list of texts.
    package func lists() throws(SluiceError) -> [[String]] {
        guard let entries = node.sequence else { throw refusal("\(name) must be a list") }
        var lists: [[String]] = []
        for entry in entries {
            let texts = entry.sequence?.map { $0.scalar?.string } ?? [entry.scalar?.string]
            guard !texts.isEmpty, !texts.contains(nil) else {
                throw ConfigurationNode(entry, name, of: file).refusal("each of \(name) is a text or a list of texts")
            }
            lists.append(texts.compactMap { $0 })
        }
        return lists
    }

    /// The value as a mapping whose keys are names that the user chooses, in order; none where it is `null`.
    package func entries() throws(SluiceError) -> [(key: String, place: ConfigurationNode, value: ConfigurationNode)] {
        if isNull { return [] }
        guard let mapping = node.mapping else { throw refusal("\(name) must be a mapping of keys to values") }
        var entries: [(key: String, place: ConfigurationNode, value: ConfigurationNode)] = []
        for (key, value) in mapping {
            let place = ConfigurationNode(key, name, of: file)
            guard let text = key.scalar?.string, !text.isEmpty else {
                throw place.refusal("a key of \(name) must be a text")
            }
            entries.append((text, place, ConfigurationNode(value, text, of: file)))
        }
        return entries
    }

    /// The value as a mapping of which every key is known; empty where it is `null`.
    package func members(_ known: [String]) throws(SluiceError) -> [String: ConfigurationNode] {
        if !isNull, !isMapping {
            throw refusal("\(name) must be a mapping with the keys \(known.joined(separator: ", "))")
        }
        var members: [String: ConfigurationNode] = [:]
        for (key, place, value) in try entries() {
            guard known.contains(key) else {
                let hint =
                    NearestKey.suggestion(for: key, among: known) ?? "; known are \(known.joined(separator: ", "))"
                throw place.refusal("unknown key \(key) in \(name)\(hint)")
            }
            members[key] = value
        }
        return members
    }

    /// The same value by another name.
    package func named(_ name: String) -> ConfigurationNode { ConfigurationNode(node, name, of: file) }

    /// A refusal of the value. `character` is how many characters of its text come before the mistake, if it is known.
    package func refusal(_ reason: String, table: String? = nil, character: Int? = nil) -> SluiceError {
        var place = node.mark.map { (line: $0.line, column: $0.column) }
        if let character, let start = place, let offset = offsetOfText(at: start) {
            place?.column += offset + character
        }
        return file.refusal(at: place, reason, table: table)
    }

    /// How many characters stand between the value's place and its text, where the text is written on one line as it
    /// is: 0, or 1 for a quotation mark. Nil where it is folded or escaped.
    private func offsetOfText(at place: (line: Int, column: Int)) -> Int? {
        guard let text = node.scalar?.string else { return nil }
        let lines = file.text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(place.line - 1) else { return nil }
        let rest = lines[place.line - 1].dropFirst(place.column - 1)
        if rest.starts(with: text.unicodeScalars) { return 0 }
        return rest.dropFirst().starts(with: text.unicodeScalars) ? 1 : nil
    }
}
