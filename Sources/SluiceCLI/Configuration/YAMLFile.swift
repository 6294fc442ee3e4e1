internal import Foundation
internal import Yams

/// A YAML file, read strictly: every refusal says file, line and column.
struct YAMLFile {
    let path: String

    /// The file's mapping.
    func mapping() throws -> YAMLMapping {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure.usage("\(path): the file cannot be read")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw CommandFailure.usage("\(path): not UTF-8")
        }
        do {
            guard let node = try Yams.compose(yaml: text) else {
                throw CommandFailure.usage("\(path): the file is empty")
            }
            return try YAMLMapping(file: self, node, what: "the file")
        } catch let error as YamlError {
            throw failure(error)
        }
    }

    /// A refusal at a place.
    func failure(at mark: Mark?, _ reason: String) -> CommandFailure {
        .usage("\(path)\(mark.map { ":\($0.line):\($0.column)" } ?? ""): \(reason)")
    }

    private func failure(_ error: YamlError) -> CommandFailure {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            failure(at: mark, problem)
        case .duplicatedKeysInMapping(let duplicates, let context):
            failure(at: context.mark, "repeated key \(duplicates.joined(separator: ", "))")
        default: .usage("\(path): not valid YAML")
        }
    }
}

/// A mapping of a YAML file, of which every key must be known.
struct YAMLMapping {
    let file: YAMLFile
    private let pairs: [(key: Node, value: Node)]

    init(file: YAMLFile, _ node: Node, what: String) throws {
        self.file = file
        if let mapping = node.mapping {
            pairs = mapping.map { ($0.key, $0.value) }
        } else if Self.isNull(node) {
            pairs = []
        } else {
            throw file.failure(at: node.mark, "\(what) must be a mapping of keys to values")
        }
    }

    /// The keys, in order.
    var keys: [String] { pairs.compactMap(\.key.string) }

    /// Refuses every key that is not among `known`.
    func refuseKeys(otherThan known: [String]) throws {
        for (key, _) in pairs where !known.contains(key.string ?? "") {
            let text = Plain.line(key.string ?? "that is no text")
            throw file.failure(at: key.mark, "unknown key \(text); known are \(known.joined(separator: ", "))")
        }
    }

    /// The text at the key, if it is there.
    func string(_ key: String) throws -> String? {
        guard let node = node(key) else { return nil }
        guard let text = node.scalar?.string, !text.isEmpty, !Self.isNull(node) else {
            throw file.failure(at: node.mark, "\(key) must be a text")
        }
        return text
    }

    /// The value at the key among `allowed`, if it is there.
    func choice(_ key: String, of allowed: [String]) throws -> String? {
        guard let text = try string(key) else { return nil }
        guard allowed.contains(text) else {
            throw failure(key, "\(key) cannot be \(Plain.line(text)); use \(allowed.joined(separator: ", "))")
        }
        return text
    }

    /// The mapping at the key, if it is there.
    func mapping(_ key: String) throws -> YAMLMapping? {
        try node(key).map { try YAMLMapping(file: file, $0, what: key) }
    }

    /// The list at the key, each entry a text or a list of texts; empty if it is not there.
    func lists(_ key: String) throws -> [[String]] {
        guard let node = node(key) else { return [] }
        guard let entries = node.sequence else { throw file.failure(at: node.mark, "\(key) must be a list") }
        return try entries.map { entry in
            let texts = entry.sequence?.map { $0.scalar?.string } ?? [entry.scalar?.string]
            guard !texts.isEmpty, !texts.contains(nil) else {
                throw file.failure(at: entry.mark, "each of \(key) is a column or a list of columns")
            }
            return texts.compactMap { $0 }
        }
    }

    /// A refusal of the value at the key.
    func failure(_ key: String, _ reason: String) -> CommandFailure { file.failure(at: node(key)?.mark, reason) }

    private func node(_ key: String) -> Node? { pairs.first { $0.key.string == key }?.value }

    private static func isNull(_ node: Node) -> Bool {
        guard let scalar = node.scalar, scalar.style == .plain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }
}
