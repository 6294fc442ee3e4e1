internal import Foundation
package import SluiceCore
internal import Yams

/// A value of a configuration, with its place in the file.
package struct ConfigurationNode {
    /// The name of the value in refusals: `pageSize`, `table movies`.
    package let name: String
    let node: Node
    let file: ConfigurationFile

    init(_ node: Node, _ name: String, of file: ConfigurationFile) {
        self.node = node
        self.name = name
        self.file = file
    }

    /// Whether the value is missing or `null`.
    package var isNull: Bool {
        guard let scalar = node.scalar, scalar.style == .plain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// Whether the value is a mapping.
    package var isMapping: Bool { node.mapping != nil }

    /// Returns the value as a text that is not empty.
    package func text() throws(SluiceError) -> String {
        guard let text = node.scalar?.string, !text.isEmpty, !isNull else { throw refusal("\(name) must be a text") }
        return text
    }

    /// Returns the value as a whole number.
    package func integer() throws(SluiceError) -> Int {
        guard let value = node.int else { throw refusal("\(name) must be a whole number") }
        return value
    }

    /// Returns the value as true or false.
    package func flag() throws(SluiceError) -> Bool {
        guard let value = node.bool else { throw refusal("\(name) must be true or false") }
        return value
    }

    /// Returns the value as one of the allowed texts.
    package func choice(of allowed: [String]) throws(SluiceError) -> String {
        let text = try text()
        guard allowed.contains(text) else {
            let hint = NearestKey.suggestion(for: text, among: allowed) ?? "; use \(allowed.joined(separator: ", "))"
            throw refusal("\(name) cannot be \(text)\(hint)")
        }
        return text
    }

    /// Returns the value as a list. Each entry is a text or a list of texts.
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

    /// Returns the value as a mapping with keys of the user's choice, in order; empty if it is `null`.
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

    /// Returns the value as a mapping with known keys only; empty if it is `null`.
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

    /// Returns the same value under another name.
    package func named(_ name: String) -> ConfigurationNode { ConfigurationNode(node, name, of: file) }

    /// Creates a refusal of the value. `character` is the number of characters of its text before the mistake, if
    /// known.
    package func refusal(_ reason: String, table: String? = nil, character: Int? = nil) -> SluiceError {
        var place = node.mark.map { (line: $0.line, column: $0.column) }
        if let character, let start = place, let offset = offsetOfText(at: start) {
            place?.column += offset + character
        }
        return file.refusal(at: place, reason, table: table)
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
}

/// A configuration in YAML, read strictly: every refusal names file, line and column.
package struct ConfigurationFile: Sendable {
    /// The name that refusals begin with.
    package let name: String
    let text: String

    /// Creates a file from a text. Refusals begin with `name`.
    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    /// Reads the file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    package init(path: String) throws(SluiceError) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw SluiceError(.invalidArgument, "\(path): the file cannot be read: \(UnreadableFile.reason(path))")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw SluiceError(.invalidArgument, "\(path): the file is not UTF-8")
        }
        self.init(name: path, text: text)
    }

    /// Returns the file's one document.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the text is empty or no YAML.
    package func root() throws(SluiceError) -> ConfigurationNode {
        do {
            guard let node = try Yams.compose(yaml: text) else {
                throw SluiceError(.invalidArgument, "\(name): the file is empty")
            }
            return ConfigurationNode(node, "the file", of: self)
        } catch let error as SluiceError {
            throw error
        } catch let error as YamlError {
            throw refusal(error)
        } catch {
            throw SluiceError(.invalidArgument, "\(name): the file is not valid YAML", cause: error)
        }
    }

    /// Creates a refusal at a place of the file.
    func refusal(at place: (line: Int, column: Int)?, _ reason: String, table: String? = nil) -> SluiceError {
        let place = place.map { ":\($0.line):\($0.column)" } ?? ""
        return SluiceError(.invalidArgument, "\(name)\(place): \(reason)", table: table)
    }

    private func refusal(_ error: YamlError) -> SluiceError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            refusal(at: (mark.line, mark.column), "the file is not valid YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            refusal(
                at: (context.mark.line, context.mark.column), "repeated key \(duplicates.joined(separator: ", "))")
        default: refusal(at: nil, "the file is not valid YAML")
        }
    }
}

extension ConfigurationNode {
    /// The position of the value: `file.yaml:12:3`.
    package var place: String {
        let mark = node.mark.map { ":\($0.line):\($0.column)" } ?? ""
        return file.name + mark
    }

    /// Returns the value as a list.
    package func items() throws(SluiceError) -> [ConfigurationNode] {
        guard let sequence = node.sequence else { throw refusal("\(name) must be a list") }
        return sequence.enumerated().map { ConfigurationNode($0.element, "\(name)[\($0.offset)]", of: file) }
    }

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
        if node.scalar == nil, depth <= 0 { throw refusal("\(name) has too many lists and mappings inside each other") }
        if node.sequence != nil {
            var array = JSON.array
            for item in try items() { array.append(try item.json(depth - 1, &rest)) }
            return array
        }
        if node.mapping != nil {
            var object = JSON.object
            for (key, place, value) in try entries() {
                guard !key.utf8.contains(0) else { throw place.refusal("a key of \(name) has a NUL character") }
                object[key] = try value.json(depth - 1, &rest)
            }
            return object
        }
        return scalarJSON
    }

    private var scalarJSON: JSON {
        if isNull { return .null }
        guard let scalar = node.scalar else { return .null }
        guard scalar.style == .plain else { return JSON(scalar.string) }
        switch scalar.string {
        case "true", "True", "TRUE": return true
        case "false", "False", "FALSE": return false
        default: return JSONNumber(text: scalar.string).map { JSON($0) } ?? JSON(scalar.string)
        }
    }

    /// Returns the value at the path, or the last value that exists on the way.
    package func nearest(to path: [String]) -> ConfigurationNode {
        guard let step = path.first else { return self }
        let rest = Array(path.dropFirst())
        if let sequence = node.sequence, let index = Int(step), sequence.indices.contains(index) {
            return ConfigurationNode(sequence[index], name, of: file).nearest(to: rest)
        }
        guard let mapping = node.mapping else { return self }
        for (key, value) in mapping where key.scalar?.string == step {
            return ConfigurationNode(value, name, of: file).nearest(to: rest)
        }
        return self
    }
}
