public import SluiceCore

/// What a plugin's configuration may be: a subset of JSON Schema.
///
/// Known are `type`, `properties`, `required`, `default`, `enum`, `const`, `minimum`, `maximum`, `minLength`,
/// `maxLength`, `minItems`, `maxItems`, `pattern`, `items`, `additionalProperties` and `format` (`secret`, `table`,
/// `duration`, `uri`), beside `title`, `description`, `examples`, `$comment` and `$schema`, which say nothing to a
/// machine. A name that is not among `properties` is refused unless `additionalProperties` says otherwise. There is no
/// `$ref`.
public struct ConfigSchema: Sendable {
    /// The deepest nesting of a configuration.
    public static let maximumConfigDepth = 32
    /// The most values that a configuration may have.
    public static let maximumConfigValues = 10_000

    package let root: SchemaNode

    /// The schema of a plugin that has nothing to configure.
    public static let none = ConfigSchema(root: SchemaNode(types: [.object]))

    private init(root: SchemaNode) { self.root = root }

    /// Reads a schema.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the JSON pointer of what is wrong.
    package init(_ place: JSONPlace) throws(SluiceError) {
        var reader = SchemaReader()
        root = try reader.node(place, depth: 0)
        guard root.types == [.object] else { throw place.refusal("expected the type object: a configuration is one") }
    }

    /// A configuration with the defaults filled in, and what it names.
    package struct Filled: Sendable {
        /// The configuration. Lengths of time are seconds.
        package var json: JSON
        /// The names of secrets, where the schema says `"format": "secret"`.
        package var secrets: Set<String>
        /// Host and port of each address that is a property of the configuration itself, by its name.
        package var hosts: [String: String]
    }

    /// The properties of the configuration itself that are addresses.
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
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the JSON pointer and what was expected.
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

/// What is kept while a configuration is filled.
struct ConfigFilling {
    var secrets: Set<String> = []
    var hosts: [String: String] = [:]
    private var values = 0

    /// Counts a value, also one that comes from a default: lists of objects with defaults multiply.
    mutating func count(at path: [String]) throws(ConfigFault) {
        values += 1
        guard values <= ConfigSchema.maximumConfigValues else {
            throw ConfigFault(
                path: path, reason: "expected at most \(ConfigSchema.maximumConfigValues) values, with the defaults")
        }
    }
}

/// Where a configuration is not as its schema says, and how.
package struct ConfigFault: Error, Sendable {
    /// The names and indexes on the way to the value.
    package var path: [String]
    /// What was expected and what is there.
    package var reason: String

    /// The place as a JSON pointer; empty for the whole configuration.
    package var pointer: String { path.map { "/" + JSONPlace.escaped($0) }.joined() }

    /// The place and the reason.
    package func message(in document: String) -> String {
        JSONPlace(.null, in: document, at: pointer).refusal(reason).message
    }
}
