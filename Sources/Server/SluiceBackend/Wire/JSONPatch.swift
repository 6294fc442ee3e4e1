internal import HTTPTypes
internal import SluiceCore

/// A list of changes of a document (RFC 6902, `application/json-patch+json`).
struct JSONPatch: Sendable {
    private struct Step {
        var operation: String
        var path: [String]
        var from: [String]
        var value: JSON?
    }

    private let steps: [Step]

    /// The most changes of one patch, and the most values and bytes of text in its copies together. Without them a few
    /// copies could multiply a record beyond the memory.
    private static let (mostSteps, mostCopied) = (256, 4 << 20)

    /// Reads the changes.
    ///
    /// - Throws: ``Refusal`` (400) for an invalid patch by RFC 6902.
    init(_ document: JSON) throws {
        guard let elements = document.elements else { throw Self.refusal("a JSON patch is an array of operations") }
        guard elements.count <= Self.mostSteps else {
            throw Self.refusal("a JSON patch has \(Self.mostSteps) operations at the most")
        }
        steps = try elements.map { element in
            guard let operation = element["op"]?.string, let path = element["path"]?.string else {
                throw Self.refusal("an operation of a JSON patch has op and path")
            }
            let needsValue = ["add", "replace", "test"].contains(operation)
            guard needsValue || ["remove", "move", "copy"].contains(operation) else {
                throw Self.refusal("a JSON patch has no operation \(operation)")
            }
            guard !needsValue || element["value"] != nil else { throw Self.refusal("\(operation) needs a value") }
            let from = try ["move", "copy"].contains(operation) ? Self.pointer(element["from"]?.string ?? "") : []
            return Step(
                operation: operation, path: try Self.pointer(path), from: from, value: element["value"])
        }
    }

    /// Whether the patch sets the named member to the value.
    func sets(_ name: PropertyName, to value: JSON) -> Bool {
        steps.contains {
            $0.path.map(PropertyName.init) == [name] && ["add", "replace"].contains($0.operation) && $0.value == value
        }
    }

    /// Returns the changed document.
    ///
    /// - Throws: ``Refusal``: 400 for a missing place, 409 for a failed test.
    func applied(to document: JSON) throws -> JSON {
        var copied = 0
        return try steps.reduce(document) { document, step in
            switch step.operation {
            case "test":
                guard try Self.value(at: step.path[...], in: document) == step.value else {
                    throw Refusal(.conflict, "the test of \(step.path.joined(separator: "/")) failed")
                }
                return document
            case "remove": return try Self.setting(nil, at: step.path[...], in: document, inserting: false)
            case "move", "copy":
                let value = try Self.value(at: step.from[...], in: document)
                if step.operation == "copy" { try Self.count(value, into: &copied) }
                let source =
                    step.operation == "copy"
                    ? document : try Self.setting(nil, at: step.from[...], in: document, inserting: false)
                return try Self.setting(value, at: step.path[...], in: source, inserting: true)
            default:
                return try Self.setting(
                    step.value, at: step.path[...], in: document, inserting: step.operation == "add")
            }
        }
    }

    /// Returns the names and indices of an RFC 6901 pointer.
    private static func pointer(_ text: String) throws -> [String] {
        if text.isEmpty { throw refusal("a record as a whole cannot be patched") }
        guard text.hasPrefix("/") else { throw refusal("\(text) is no JSON pointer") }
        let parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 64 else { throw refusal("a JSON pointer is nested deeper than 64 levels") }
        return parts.map { String($0).replacing("~1", with: "/").replacing("~0", with: "~") }
    }

    private static func value(at path: ArraySlice<String>, in document: JSON) throws -> JSON {
        guard let name = path.first else { return document }
        let child = document.elements.map { elements in index(name, below: elements.count).map { elements[$0] } }
        guard let next = child ?? document[name] else { throw refusal("there is nothing at \(name)") }
        return try value(at: path.dropFirst(), in: next)
    }

    /// Returns the document with the value set at the place, or removed from it.
    private static func setting(
        _ value: JSON?, at path: ArraySlice<String>, in document: JSON, inserting: Bool
    ) throws -> JSON {
        guard let name = path.first else { return value ?? .null }
        let isLast = path.count == 1
        if var elements = document.elements {
            let end = isLast && inserting ? elements.count + 1 : elements.count
            guard let index = isLast && inserting && name == "-" ? elements.count : index(name, below: end) else {
                throw refusal("the array has no place \(name)")
            }
            if !isLast {
                elements[index] = try setting(
                    value, at: path.dropFirst(), in: elements[index], inserting: inserting)
            } else if let value, inserting {
                elements.insert(value, at: index)
            } else if let value {
                elements[index] = value
            } else {
                elements.remove(at: index)
            }
            return JSON(elements)
        }
        guard document.kind == .object else { throw refusal("there is nothing at \(name)") }
        guard inserting && isLast || document[name] != nil else { throw refusal("there is nothing at \(name)") }
        var document = document
        document[name] =
            isLast
            ? value : try setting(value, at: path.dropFirst(), in: document[name] ?? .null, inserting: inserting)
        return document
    }

    /// Adds the value's size to the size of the previous copies.
    private static func count(_ value: JSON, into copied: inout Int, depth: Int = 0) throws {
        copied += 1 + (value.string?.utf8.count ?? 0)
        guard copied <= mostCopied, depth <= JSON.maximumDepth else {
            throw refusal("the copies of a JSON patch make the record too large")
        }
        for element in value.elements ?? [] { try count(element, into: &copied, depth: depth + 1) }
        for (name, member) in value.members ?? [] {
            copied += name.text.utf8.count
            try count(member, into: &copied, depth: depth + 1)
        }
    }

    private static func index(_ name: String, below end: Int) -> Int? {
        guard name == "0" || !name.hasPrefix("0"), name.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let index = Int(name), index < end
        else { return nil }
        return index
    }

    private static func refusal(_ reason: String) -> Refusal { Refusal(.badRequest, reason) }
}
