public import SluiceCore

/// The schema of a plugin's configuration, in a subset of JSON Schema.
///
/// Known are `type`, `properties`, `required`, `default`, `enum`, `const`, `minimum`, `maximum`, `minLength`,
/// `maxLength`, `minItems`, `maxItems`, `pattern`, `items`, `additionalProperties` and `format` (`secret`, `table`,
/// `duration`, `uri`). `title`, `description`, `examples`, `$comment` and `$schema` are allowed and ignored. A name
/// that is not among `properties` is refused unless `additionalProperties` allows it. There is no `$ref`.
public struct ConfigSchema: Sendable {
    /// The deepest nesting of a configuration.
    public static let maximumConfigDepth = 32
    /// The maximum number of values in a configuration.
    public static let maximumConfigValues = 10_000

    package let root: SchemaNode

    /// The schema of a plugin that has nothing to configure.
    public static let none = ConfigSchema(root: SchemaNode(types: [.object]))

    private init(root: SchemaNode) { self.root = root }

    /// Reads a schema.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the JSON pointer of the fault.
    package init(_ place: JSONPlace) throws(SluiceError) {
        var reader = SchemaReader()
        root = try reader.node(place, depth: 0)
        guard root.types == [.object] else { throw place.refusal("expected the type object: a configuration is one") }
    }

    /// A configuration with its defaults filled in, and the secrets and hosts that it names.
    package struct Filled: Sendable {
        /// The configuration. Lengths of time are seconds.
        package var json: JSON
        /// The names of secrets: values of the format `secret`.
        package var secrets: Set<String>
        /// Host and port of each address that is a direct property of the configuration, by the property's name.
        package var hosts: [String: String]
    }

    /// The direct properties of the configuration that are addresses.
    var addressNames: [String] { root.properties.filter { $0.node.format == .uri }.map(\.name) }

    /// Checks a configuration and fills in the defaults.
    package func fill(_ config: JSON) throws(ConfigFault) -> Filled {
        var values = 0
        try Self.measure(config, depth: 0, &values)
        var filling = ConfigFilling()
        let json = try root.fill(config, at: [], &filling)
        return Filled(json: json, secrets: filling.secrets, hosts: filling.hosts)
    }

    /// Checks a configuration and fills in the defaults.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the JSON pointer and the expectation.
    public func filled(_ config: JSON, in document: String = "config") throws(SluiceError) -> JSON {
        do throws(ConfigFault) {
            return try fill(config).json
        } catch {
            throw SluiceError(.invalidArgument, error.message(in: document))
        }
    }

    private static func measure(_ value: JSON, depth: Int, _ values: inout Int) throws(ConfigFault) {
        values += 1
        guard depth <= maximumConfigDepth else {
            throw ConfigFault(
                path: [], reason: "expected at most \(maximumConfigDepth) objects and lists inside each other")
        }
        guard values <= maximumConfigValues else {
            throw ConfigFault(path: [], reason: "expected at most \(maximumConfigValues) values")
        }
        for element in value.elements ?? [] { try measure(element, depth: depth + 1, &values) }
        for member in value.members ?? [] { try measure(member.value, depth: depth + 1, &values) }
    }
}

/// The state of filling in one configuration: its secrets, hosts and number of values.
struct ConfigFilling {
    var secrets: Set<String> = []
    var hosts: [String: String] = [:]
    private var values = 0

    /// Counts a value. Defaults count too: lists of objects with defaults multiply.
    mutating func count(at path: [String]) throws(ConfigFault) {
        values += 1
        guard values <= ConfigSchema.maximumConfigValues else {
            throw ConfigFault(
                path: path, reason: "expected at most \(ConfigSchema.maximumConfigValues) values, with the defaults")
        }
    }
}

/// A place where a configuration violates its schema, and the reason.
package struct ConfigFault: Error, Sendable {
    /// The names and indexes on the way to the value.
    package var path: [String]
    /// The expectation and the value found.
    package var reason: String

    /// The place as a JSON pointer; empty for the whole configuration.
    package var pointer: String { path.map { "/" + JSONPlace.escaped($0) }.joined() }

    /// The place and the reason.
    package func message(in document: String) -> String {
        JSONPlace(.null, in: document, at: pointer).refusal(reason).message
    }
}

/// Reads a schema, and refuses keywords that it does not enforce.
struct SchemaReader {
    private static let maximumDepth = 16
    private static let maximumNodes = 1_000
    private static let maximumProperties = 256
    private static let maximumChoices = 256
    private static let annotations = ["title", "description", "examples", "$comment", "$schema"]
    /// The keywords that apply to some types only, and those types.
    private static let typed: [(keyword: String, types: [SchemaNode.ValueType])] = [
        ("properties", [.object]), ("required", [.object]), ("additionalProperties", [.object]),
        ("items", [.array]), ("minItems", [.array]), ("maxItems", [.array]),
        ("minLength", [.string]), ("maxLength", [.string]), ("pattern", [.string]), ("format", [.string]),
        ("minimum", [.number, .integer]), ("maximum", [.number, .integer]),
    ]

    private var nodes = 0
    private var filling = ConfigFilling()

    mutating func node(_ place: JSONPlace, depth: Int) throws(SluiceError) -> SchemaNode {
        nodes += 1
        guard depth <= Self.maximumDepth else {
            throw place.refusal("schemas are nested at most \(Self.maximumDepth) deep")
        }
        guard nodes <= Self.maximumNodes else { throw place.refusal("expected at most \(Self.maximumNodes) schemas") }
        if let reference = place.value["$ref"] {
            throw place.child(reference, "$ref").refusal(
                "there are no references here: write the schema out where it is used")
        }
        let keywords = ["type", "default", "enum", "const"] + Self.typed.map(\.keyword) + Self.annotations
        let members = try place.members(keywords)
        var node = SchemaNode()
        if let type = members["type"] { node.types = try types(type) }
        for (keyword, types) in Self.typed {
            guard let place = members[keyword], !node.types.contains(where: types.contains) else { continue }
            let names = types.map(\.rawValue).joined(separator: " or ")
            throw place.refusal("is for the type \(names), which type does not name")
        }
        try readObject(members, depth, into: &node)
        if let items = members["items"] { node.items = [try self.node(items, depth: depth + 1)] }
        node.counts = try range(members["minItems"], members["maxItems"])
        node.lengths = try range(members["minLength"], members["maxLength"])
        try readNumbers(members, into: &node)
        if let pattern = members["pattern"] { node.pattern = try self.pattern(pattern) }
        if let format = members["format"] {
            node.format = ConfigFormat(rawValue: try format.choice(of: ConfigFormat.allCases.map(\.rawValue)))
        }
        if let choices = members["enum"] {
            node.choices = try choices.items(upTo: Self.maximumChoices).map(\.value)
            guard !node.choices.isEmpty else { throw choices.expected("at least one value") }
        }
        if let constant = members["const"] {
            guard members["enum"] == nil else { throw constant.refusal("enum and const are not said together") }
            node.choices = [constant.value]
        }
        // An object without a type, or with fixed values, accepts any name.
        if node.types.isEmpty || !node.choices.isEmpty { node.others = .allowed }
        try check(members["default"], of: &node)
        return node
    }

    private func types(_ place: JSONPlace) throws(SluiceError) -> [SchemaNode.ValueType] {
        let places = place.value.kind == .array ? try place.items(upTo: 7) : [place]
        var types: [SchemaNode.ValueType] = []
        for place in places {
            let name = try place.choice(of: SchemaNode.ValueType.allCases.map(\.rawValue))
            types += SchemaNode.ValueType(rawValue: name).map { [$0] } ?? []
        }
        guard !types.isEmpty else { throw place.expected("at least one type") }
        return types
    }

    private mutating func readObject(
        _ members: [String: JSONPlace], _ depth: Int, into node: inout SchemaNode
    ) throws(SluiceError) {
        for (name, place) in try members["properties"]?.entries(upTo: Self.maximumProperties) ?? [] {
            node.properties.append((name, try self.node(place, depth: depth + 1)))
        }
        for place in try members["required"]?.items(upTo: Self.maximumProperties) ?? [] {
            let name = try place.text()
            guard node.properties.contains(where: { $0.name == name }) else {
                let hint = NearestKey.suggestion(for: name, among: node.properties.map(\.name)) ?? ""
                throw place.refusal("not among the properties\(hint)")
            }
            node.required.append(name)
        }
        guard let others = members["additionalProperties"] else { return }
        if let flag = others.value.bool {
            node.others = flag ? .allowed : .refused
        } else {
            node.others = .each([try self.node(others, depth: depth + 1)])
        }
    }

    private func range(_ least: JSONPlace?, _ most: JSONPlace?) throws(SluiceError) -> ClosedRange<Int>? {
        guard least != nil || most != nil else { return nil }
        let lower = try least?.integer(in: 0...1_000_000) ?? 0
        let upper = try most?.integer(in: 0...1_000_000) ?? .max
        if let most, upper < lower { throw most.expected("\(lower) or more") }
        return lower...upper
    }

    private func readNumbers(_ members: [String: JSONPlace], into node: inout SchemaNode) throws(SluiceError) {
        if let place = members["minimum"] {
            guard let number = place.value.number else { throw place.expected("a number") }
            node.minimum = number
        }
        if let place = members["maximum"] {
            guard let number = place.value.number else { throw place.expected("a number") }
            if let minimum = node.minimum, JSON.Number.queryOrder(number, minimum) < 0 {
                throw place.expected("\(minimum) or more")
            }
            node.maximum = number
        }
    }

    private func pattern(_ place: JSONPlace) throws(SluiceError) -> TextPattern {
        let text = try place.text()
        do throws(TextPattern.Refusal) {
            return try TextPattern(text)
        } catch {
            throw place.refusal("at character \(error.character) of the pattern: \(error.reason)")
        }
    }

    /// Checks that the schema allows its own default.
    private mutating func check(_ place: JSONPlace?, of node: inout SchemaNode) throws(SluiceError) {
        guard let place else { return }
        do throws(ConfigFault) {
            _ = try node.fill(place.value, at: [], &filling)
        } catch {
            throw JSONPlace(.null, in: place.document, at: place.pointer + error.pointer).refusal(error.reason)
        }
        node.defaultValue = place.value
    }
}
