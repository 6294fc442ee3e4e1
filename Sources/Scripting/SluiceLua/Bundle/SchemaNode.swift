internal import SluiceCore

/// The schema of one value of a configuration.
package struct SchemaNode: Sendable {
    enum ValueType: String, Sendable, CaseIterable {
        case object, array, string, number, integer, boolean, null

        /// The name of the type in refusals.
        var words: String {
            switch self {
            case .object: "an object"
            case .array: "a list"
            case .string: "a text"
            case .number: "a number"
            case .integer: "a whole number"
            case .boolean: "true or false"
            case .null: "null"
            }
        }

        func fits(_ value: JSON) -> Bool {
            switch self {
            case .object: value.kind == .object
            case .array: value.kind == .array
            case .string: value.kind == .string
            case .number: value.kind == .number
            case .integer: value.int != nil
            case .boolean: value.kind == .bool
            case .null: value.isNull
            }
        }
    }

    package enum Others: Sendable {
        case refused, allowed
        /// One element; it is in an array because a value type cannot contain itself.
        case each([SchemaNode])
    }

    var types: [ValueType] = []
    package var properties: [(name: String, node: SchemaNode)] = []
    var required: [String] = []
    package var others = Others.refused
    package var items: [SchemaNode] = []
    var minimum: JSON.Number?
    var maximum: JSON.Number?
    var lengths: ClosedRange<Int>?
    var counts: ClosedRange<Int>?
    var pattern: TextPattern?
    var choices: [JSON] = []
    package var format: ConfigFormat?
    var defaultValue: JSON?

    /// Whether refusals may not show the value.
    private var isHidden: Bool { format == .secret }

    /// Checks a value and fills in missing members.
    func fill(_ value: JSON, at path: [String], _ filling: inout ConfigFilling) throws(ConfigFault) -> JSON {
        try filling.count(at: path)
        func expected(_ expectation: String) -> ConfigFault {
            let found = isHidden ? "something else" : JSONPlace.words(for: value)
            return ConfigFault(path: path, reason: "expected \(expectation), found \(found)")
        }
        guard types.isEmpty || types.contains(where: { $0.fits(value) }) else {
            throw expected(types.map(\.words).joined(separator: " or "))
        }
        guard choices.isEmpty || choices.contains(value) else {
            let words = choices.prefix(20).map { JSONPlace.words(for: $0) }.joined(separator: ", ")
            throw expected(choices.count == 1 ? words : "one of \(words)")
        }
        switch value.kind {
        case .number:
            if let number = value.number, let fault = outOfRange(number) { throw expected(fault) }
        case .string:
            let text = value.string ?? ""
            if let lengths, !lengths.contains(text.unicodeScalars.count) {
                throw expected("a text of \(Self.words(lengths)) characters")
            }
            if let pattern, !pattern.matches(text) { throw expected("a text that matches \(pattern.text)") }
            guard let format else { break }
            guard let result = format.read(text) else { throw expected(format.expectation) }
            if format == .secret { filling.secrets.insert(text) }
            if format == .uri, path.count == 1 { filling.hosts[path[0]] = ConfigFormat.authority(of: text) }
            return result
        case .array:
            if let counts, !counts.contains(value.count) {
                throw expected("a list of \(Self.words(counts)), found one of \(value.count)")
            }
            guard let node = items.first else { break }
            var filled = JSON.array
            for (index, element) in (value.elements ?? []).enumerated() {
                filled.append(try node.fill(element, at: path + [String(index)], &filling))
            }
            return filled
        case .object: return try fill(object: value, at: path, &filling)
        case .null, .bool: break
        }
        return value
    }

    private func fill(object: JSON, at path: [String], _ filling: inout ConfigFilling) throws(ConfigFault) -> JSON {
        var filled = JSON.object
        for (name, value) in object.members ?? [] {
            let place = path + [name.text]
            if let node = properties.first(where: { PropertyName($0.name) == name })?.node {
                filled[name] = try node.fill(value, at: place, &filling)
                continue
            }
            switch others {
            case .allowed: filled[name] = value
            case .each(let nodes): filled[name] = try nodes.first?.fill(value, at: place, &filling) ?? value
            case .refused:
                let known = properties.map(\.name)
                let hint =
                    NearestKey.suggestion(for: name.text, among: known)
                    ?? (known.isEmpty ? "; there is nothing to set" : "; known are \(known.joined(separator: ", "))")
                throw ConfigFault(path: place, reason: "unknown name\(hint)")
            }
        }
        for (name, node) in properties where filled[name] == nil {
            guard let value = node.defaultValue else { continue }
            filled[name] = try node.fill(value, at: path + [name], &filling)
        }
        for name in required where filled[name] == nil {
            let node = properties.first { $0.name == name }?.node
            let words = node?.types.map(\.words).joined(separator: " or ") ?? ""
            throw ConfigFault(
                path: path + [name], reason: "expected \(words.isEmpty ? "a value" : words), found nothing")
        }
        return filled
    }

    private func outOfRange(_ number: JSON.Number) -> String? {
        let isTooSmall = minimum.map { JSON.Number.queryOrder(number, $0) < 0 } ?? false
        let isTooLarge = maximum.map { JSON.Number.queryOrder(number, $0) > 0 } ?? false
        guard isTooSmall || isTooLarge else { return nil }
        return switch (minimum, maximum) {
        case (let least?, let most?): "a number from \(least) to \(most)"
        case (let least?, nil): "a number of \(least) or more"
        case (nil, let most?): "a number of \(most) or less"
        case (nil, nil): nil
        }
    }

    private static func words(_ range: ClosedRange<Int>) -> String {
        if range.upperBound == .max { return "\(range.lowerBound) or more" }
        if range.lowerBound == range.upperBound { return "\(range.lowerBound)" }
        return "\(range.lowerBound) to \(range.upperBound)"
    }
}
