internal import SluiceCore

/// Numbers that scripts read as text, because neither kind of number in Lua holds them as they are written: `1.10`, 2⁶⁴.
enum LongNumbers {
    /// The value, in which such a text is the number again that one of the originals has in the same place. So a body or a
    /// record that was read whole and written back has kept its numbers.
    static func restored(_ value: JSON, from originals: [JSON]) -> JSON {
        let originals = originals.filter(holdsAny)
        return originals.isEmpty ? value : replaced(value, originals)
    }

    private static func isLong(_ value: JSON) -> Bool {
        if case .text? = value.number?.storage { true } else { false }
    }

    private static func holdsAny(_ value: JSON) -> Bool {
        switch value.kind {
        case .number: isLong(value)
        case .array: (value.elements ?? []).contains(where: holdsAny)
        case .object: (value.members ?? []).contains { holdsAny($0.value) }
        case .string, .bool, .null: false
        }
    }

    private static func replaced(_ value: JSON, _ originals: [JSON]) -> JSON {
        switch value.kind {
        case .string: originals.first { isLong($0) && $0.number?.description == value.string } ?? value
        case .array:
            JSON(
                (value.elements ?? []).enumerated().map { index, element in
                    replaced(element, originals.compactMap { $0[index] })
                })
        case .object:
            JSON(
                members: (value.members ?? []).map { name, member in
                    (name, replaced(member, originals.compactMap { $0[name] }))
                })
        case .number, .bool, .null: value
        }
    }
}
