package import SluiceCore
internal import Yams

extension ConfigurationNode {
    /// Where the value is: `file.yaml:12:3`.
    package var place: String {
        let mark = node.mark.map { ":\($0.line):\($0.column)" } ?? ""
        return file.name + mark
    }

    /// The value as a list.
    package func items() throws(SluiceError) -> [ConfigurationNode] {
        guard let sequence = node.sequence else { throw refusal("\(name) must be a list") }
        return sequence.enumerated().map { ConfigurationNode($0.element, "\(name)[\($0.offset)]", of: file) }
    }

    /// The value as JSON: `true`, `false`, `null` and numbers as JSON writes them are that where they stand without
    /// quotation marks, everything else is a text.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for more than `depth` lists and mappings inside each other,
    ///   or more than `values` values, however few of them are written: aliases count each time.
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

    /// The value that those names and indexes lead to from here, or the last that there is on the way.
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
