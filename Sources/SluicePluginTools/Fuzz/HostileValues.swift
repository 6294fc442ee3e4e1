internal import SluiceCore
internal import SluiceLua

/// Values that nobody expects where they stand.
enum HostileValues {
    /// Values of every kind, at the edges of what JSON can say.
    static let all: [JSON] = [
        .null, true, false, 0, -1, 9_007_199_254_740_993, JSON(Int64.max), JSON(Int64.min), 1e308, -0.0, 0.1, "", " ",
        "\n", "0", "null", "%s%d%%", "{{secret x}}", "'; drop table todo; --", "../../etc/passwd",
        JSON(String(repeating: "a", count: 5000)), "\u{FEFF}\u{202E}\u{1F4A9}", "e\u{301}", "2026-02-30T25:61:00Z",
        "9999-12-31T23:59:59.9999999Z", .array, .object, [.null], [[[]]], ["a": ["b": ["c": .null]]],
        JSON((0..<300).map { JSON($0) }), ["decision": "server"], ["__index": 1, "id": "2"],
    ]

    /// The value with one or more parts of it replaced, taken away or added.
    static func spoiled(_ value: JSON, using chance: inout SeededChance, depth: Int = 0) -> JSON {
        if depth > 0, Int.random(in: 0..<6, using: &chance) == 0 { return all.randomElement(using: &chance) ?? .null }
        if let members = value.members {
            var spoiled: [(PropertyName, JSON)] = []
            for (name, member) in members {
                switch Int.random(in: 0..<12, using: &chance) {
                case 0: continue
                case 1: spoiled.append((name, all.randomElement(using: &chance) ?? .null))
                default: spoiled.append((name, Self.spoiled(member, using: &chance, depth: depth + 1)))
                }
            }
            return JSON(members: spoiled)
        }
        if let elements = value.elements {
            return JSON(elements.map { Self.spoiled($0, using: &chance, depth: depth + 1) })
        }
        return value
    }
}
