package import SluiceCore

extension PluginDecision {
    /// The replacement of a hidden value.
    package static let hidden: JSON = "(hidden)"

    /// Returns the decision with the values of those fields hidden, at any depth; in JSON bodies too.
    package func hiding(_ fields: Set<PropertyName>) -> PluginDecision {
        guard !fields.isEmpty else { return self }
        var decision = self
        decision.input = input.map { Self.hiding($0, fields) }
        decision.answer = answer.map { Self.hiding($0, fields) }
        for line in log.indices { decision.log[line].fields = log[line].fields.map { Self.hiding($0, fields) } }
        return decision
    }

    private static func hiding(_ value: JSON, _ fields: Set<PropertyName>) -> JSON {
        if let elements = value.elements { return JSON(elements.map { hiding($0, fields) }) }
        guard let members = value.members else { return value }
        return JSON(
            members: members.map { name, member in
                if fields.contains(name) { return (name, hidden) }
                // A body is stored as text.
                if name == "body", let text = member.string, let json = try? JSON(parsing: text),
                    json.kind == .object || json.kind == .array
                {
                    return (name, JSON(hiding(json, fields).description))
                }
                return (name, hiding(member, fields))
            })
    }
}
