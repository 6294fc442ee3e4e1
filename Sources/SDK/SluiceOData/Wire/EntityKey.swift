package import SluiceBase
internal import SluiceWire

/// A row's key, as a record's id and as the predicate of an address: `('a')`, `(Order=1,Item=10)`.
///
/// The id of a row with one key property is that property's plain text. With several it is the predicate in v4's
/// literals, without parentheses, in the order of the service's description. The address in `@odata.id` is never used:
/// its host may differ from the service's.
package struct EntityKey: Sendable, Hashable {
    /// The plain texts of the key's properties, in their order.
    package let values: [String]

    /// Reads the key of a record with that id; nil if the id is no key of the set.
    package init?(id: RecordID, in set: EntitySet) {
        if set.singleKey != nil {
            self.init(values: [id.text], in: set)
        } else {
            self.init(predicate: id.text, in: set)
        }
    }

    /// Reads the key of a row; nil if a property of the key is missing.
    package init?(row: JSON, in set: EntitySet, version: ODataVersion) {
        var values: [String] = []
        for property in set.key {
            guard let plain = EdmValue.plain(row[property.name], type: property.type, version: version) else {
                return nil
            }
            values.append(plain)
        }
        self.init(values: values, in: set)
    }

    /// Reads the key in an address of a row: only the text in the last parentheses counts.
    package init?(address: String, in set: EntitySet) {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let decoded = PercentEncoding.decoded(path.replacing("+", with: "%2B"))
        guard decoded.utf8.last == UInt8(ascii: ")"), let start = Self.start(of: decoded) else { return nil }
        self.init(predicate: String(decoded[start..<decoded.utf8.index(before: decoded.endIndex)]), in: set)
    }

    /// Reads the key of a predicate: one literal, or `name=literal` for each property in any order.
    package init?(predicate: String, in set: EntitySet) {
        var found: [PropertyName: String] = [:]
        let parts = Self.split(predicate)
        for part in parts {
            let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            let rest = part.dropFirst(name.count)
            if rest.hasPrefix("="), let property = set.key.first(where: { $0.name.text.hasSameBytes(as: String(name)) })
            {
                guard let plain = EdmLiteral.plain(String(rest.dropFirst()), type: property.type) else { return nil }
                found[property.name] = plain
            } else if parts.count == 1, let single = set.singleKey {
                guard let plain = EdmLiteral.plain(part, type: single.type) else { return nil }
                found[single.name] = plain
            } else {
                return nil
            }
        }
        let values = set.key.compactMap { found[$0.name] }
        guard parts.count == set.key.count else { return nil }
        self.init(values: values, in: set)
    }

    /// Creates the key of those plain texts, in the order of the key's properties; nil if one is no value of its
    /// property. They may be in any of the value's spellings.
    init?(values: [String], in set: EntitySet) {
        guard values.count == set.key.count else { return nil }
        let values = zip(values, set.key).map { EdmValue.keyText($0, type: $1.type) }
        for (value, property) in zip(values, set.key) {
            guard EdmLiteral.text(of: value, type: property.type, version: .v4) != nil else { return nil }
        }
        self.values = values
    }

    /// Whether both keys are the same, byte for byte.
    func isSame(as other: EntityKey) -> Bool {
        values.count == other.values.count && zip(values, other.values).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    /// Returns the record's id.
    package func id(in set: EntitySet) -> RecordID {
        set.singleKey == nil ? .string(predicate(in: set, version: .v4)) : .string(values[0])
    }

    /// Returns the text between the parentheses of an address, not percent-encoded.
    package func predicate(in set: EntitySet, version: ODataVersion) -> String {
        let literals = zip(values, set.key).map { EdmLiteral.text(of: $0, type: $1.type, version: version) ?? "" }
        if set.singleKey != nil { return literals[0] }
        return zip(set.key, literals).map { "\($0.name.text)=\($1)" }.joined(separator: ",")
    }

    /// Returns the members of the key for a body.
    package func members(in set: EntitySet, version: ODataVersion) -> [(PropertyName, JSON)] {
        zip(set.key, values).map { property, value in
            (
                property.name,
                EdmValue.toWire(EdmValue.json(plain: value, type: property.type), type: property.type, version: version)
            )
        }
    }

    /// Returns the start of the text in the last parentheses; quotes are skipped, since a key may hold parentheses. It
    /// searches bytes: a key may begin with a mark that Swift's characters join to the quote.
    private static func start(of address: String) -> String.Index? {
        var open: String.Index?
        var isQuoted = false
        for index in address.utf8.indices {
            switch address.utf8[index] {
            case UInt8(ascii: "'"): isQuoted.toggle()
            case UInt8(ascii: "(") where !isQuoted: open = address.utf8.index(after: index)
            case UInt8(ascii: "/") where !isQuoted: open = nil
            default: break
            }
        }
        return isQuoted ? nil : open
    }

    /// Splits the text at the commas outside quotes.
    private static func split(_ text: String) -> [String] {
        var parts: [String] = [""]
        var isQuoted = false
        for scalar in text.unicodeScalars {
            if scalar == "'" { isQuoted.toggle() }
            if scalar == ",", !isQuoted {
                parts.append("")
            } else {
                parts[parts.count - 1].unicodeScalars.append(scalar)
            }
        }
        return parts
    }
}
