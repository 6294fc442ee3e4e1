/// A position in the document being made; its containers may write to it at any time.
final class JSONEncodingNode {
    private var value: JSON?
    /// The containers of nested values; their positions hold `null` until they are finished.
    private var members: [(name: String, node: JSONEncodingNode)] = []
    private var elements: [(index: Int, node: JSONEncodingNode)] = []
    private var failure: EncodingError?

    var count: Int { value?.count ?? 0 }

    func set(_ value: JSON) {
        self.value = value
        members = []
        elements = []
    }

    func becomeObject() {
        if value?.kind != .object { set(.object) }
    }

    func becomeArray() {
        if value?.kind != .array { set(.array) }
    }

    func set(_ member: JSON, for key: any CodingKey, at path: [any CodingKey]) {
        let name = key.stringValue
        if name.utf8.contains(0), failure == nil {
            failure = .invalidValue(
                member, .init(codingPath: path + [key], debugDescription: "a member name with a NUL character"))
        }
        if !members.isEmpty { members.removeAll { Self.isEqual($0.name, name) } }
        value?[name] = member
    }

    func append(_ element: JSON) { value?.append(element) }

    /// Orders the finished members by their names, or the elements by their texts.
    func sort() {
        if let all = value?.members {
            value = JSON(members: all.sorted { $0.name < $1.name }.map { ($0.name, $0.value) })
        } else if let all = value?.elements {
            value = JSON(all.sorted { ($0.string ?? "") < ($1.string ?? "") })
        }
    }

    /// Returns the node of a member: the same one at each call.
    func node(for key: any CodingKey, at path: [any CodingKey]) -> JSONEncodingNode {
        if let known = members.first(where: { Self.isEqual($0.name, key.stringValue) }) { return known.node }
        set(.null, for: key, at: path)
        let node = JSONEncodingNode()
        members.append((key.stringValue, node))
        return node
    }

    func appendNode() -> JSONEncodingNode {
        let node = JSONEncodingNode()
        elements.append((count, node))
        append(.null)
        return node
    }

    /// Returns the document, or nil if nothing was written; a nested value without content is an empty object.
    func finish() throws -> JSON? {
        if let failure { throw failure }
        for (name, node) in members { value?[name] = try node.finish() ?? .object }
        if !elements.isEmpty, var all = value?.elements {
            for (index, node) in elements where index < all.count { all[index] = try node.finish() ?? .object }
            value = JSON(all)
        }
        return value
    }

    private static func isEqual(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}
