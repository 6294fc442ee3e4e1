package import SluiceCore
internal import Yams

/// A value of a configuration in YAML that is read strictly. Every refusal names file, line and column.
package typealias ConfigurationNode = StrictValue<YAMLSource>

/// A value of a configuration in YAML, with its place in the file.
package struct YAMLSource: StrictSource {
    let node: Node
    let file: ConfigurationFile

    package static let longestText = Int.max

    /// Whether the value is missing or `null`.
    var isNull: Bool {
        guard let scalar = node.scalar, scalar.style == .plain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    package var text: String? { isNull ? nil : node.scalar?.string }
    package var integer: Int? { node.int }
    package var flag: Bool? { node.bool }
    package var elements: [YAMLSource]? { node.sequence?.map { YAMLSource(node: $0, file: file) } }
    package var entries: [(name: String?, key: YAMLSource, value: YAMLSource)]? {
        if isNull { return [] }
        return node.mapping?.map { key, value in
            let text = key.scalar?.string
            return (
                text?.isEmpty == true ? nil : text, YAMLSource(node: key, file: file),
                YAMLSource(node: value, file: file)
            )
        }
    }

    package func location(after characters: Int?) -> String {
        var place = node.mark.map { (line: $0.line, column: $0.column) }
        if let characters, let start = place, let offset = offsetOfText(at: start) {
            place?.column += offset + characters
        }
        return file.location(place)
    }

    /// Returns the number of characters between the value's place and its text: 0, or 1 for a quotation mark. Nil if
    /// the text is folded or escaped.
    private func offsetOfText(at place: (line: Int, column: Int)) -> Int? {
        guard let text = node.scalar?.string else { return nil }
        let lines = file.text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(place.line - 1) else { return nil }
        let rest = lines[place.line - 1].dropFirst(place.column - 1)
        if rest.starts(with: text.unicodeScalars) { return 0 }
        return rest.dropFirst().starts(with: text.unicodeScalars) ? 1 : nil
    }

    package func mismatch(_ expectation: String, of name: String) -> String { "\(name) must be \(expectation)" }

    package func wrongChoice(of allowed: [String], for name: String) -> String {
        guard let text, !text.isEmpty else { return mismatch("a text", of: name) }
        let hint = NearestKey.suggestion(for: text, among: allowed) ?? "; use \(allowed.joined(separator: ", "))"
        return "\(name) cannot be \(text)\(hint)"
    }

    package static func object(of known: [String]?) -> String {
        known.map { "a mapping with the keys \($0.joined(separator: ", "))" } ?? "a mapping of keys to values"
    }

    package static func unknown(_ key: String, in name: String) -> String { "unknown key \(key) in \(name)" }
}

extension ConfigurationNode {
    /// Whether the value is missing or `null`.
    package var isNull: Bool { source.isNull }

    /// Whether the value is a mapping.
    package var isMapping: Bool { source.node.mapping != nil }

    /// Returns the value as JSON. Unquoted `true`, `false`, `null` and JSON numbers keep their type; everything else is
    /// a text.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for more than `depth` lists and mappings inside each other,
    ///   or more than `values` values. Each use of an alias counts.
    package func json(depth: Int = 32, values: Int = 10_000) throws(SluiceError) -> JSON {
        var rest = values
        return try json(depth, &rest)
    }

    private func json(_ depth: Int, _ rest: inout Int) throws(SluiceError) -> JSON {
        rest -= 1
        guard rest >= 0 else { throw refusal("\(name) has too many values") }
        if source.node.scalar == nil, depth <= 0 {
            throw refusal("\(name) has too many lists and mappings inside each other")
        }
        if source.node.sequence != nil {
            var array = JSON.array
            for item in try items() { array.append(try item.json(depth - 1, &rest)) }
            return array
        }
        if source.node.mapping != nil {
            var object = JSON.object
            for (key, value) in try entries() {
                guard !key.utf8.contains(0) else { throw value.key.refusal("a key of \(name) has a NUL character") }
                object[key] = try value.json(depth - 1, &rest)
            }
            return object
        }
        return scalarJSON
    }

    private var scalarJSON: JSON {
        if isNull { return .null }
        guard let scalar = source.node.scalar else { return .null }
        guard scalar.style == .plain else { return JSON(scalar.string) }
        switch scalar.string {
        case "true", "True", "TRUE": return true
        case "false", "False", "FALSE": return false
        default: return JSON.Number(text: scalar.string).map { JSON($0) } ?? JSON(scalar.string)
        }
    }

    /// Returns the value at the path, or the last value that exists on the way.
    package func nearest(to path: [String]) -> ConfigurationNode {
        guard let step = path.first else { return self }
        let rest = Array(path.dropFirst())
        if let elements = source.elements, let index = Int(step), elements.indices.contains(index) {
            return ConfigurationNode(elements[index], name).nearest(to: rest)
        }
        guard let value = source.entries?.first(where: { $0.name == step })?.value else { return self }
        return ConfigurationNode(value, name).nearest(to: rest)
    }
}
