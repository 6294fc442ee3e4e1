package import SluiceCore

/// The fields that a plugin's `to_wire` and `from_wire` translate, as its manifest declares them.
package struct CodecDeclaration: Sendable, Hashable {
    /// The place of the fields' names.
    private enum Source: Sendable, Hashable {
        /// The manifest, with the names by table.
        case manifest([String: [PropertyName]])
        /// The configuration's property of that name.
        case configuration(String)
    }

    /// The name that stands for all tables.
    package static let allTables = "*"

    private let source: Source
    /// Whether a query may compare the fields with constants.
    package let allowsFilters: Bool

    /// Reads a declaration: `{"fields": {"readings": ["temperature"]}, "filters": false}`. For `fields` a text in braces
    /// names the property of the configuration that holds them.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the place.
    init(_ place: JSONPlace, _ schema: ConfigSchema) throws(SluiceError) {
        let members = try place.members(["fields", "filters"])
        guard let fields = members["fields"] else { throw place.refusal("expected a member fields, found none") }
        allowsFilters = try members["filters"]?.flag() ?? true
        guard let text = fields.value.string else {
            source = .manifest(try Self.names(fields))
            return
        }
        let property = schema.root.properties.map(\.name).first { "{\($0)}" == text }
        guard let property else { throw fields.expected("a property of config_schema in braces, such as \"{tables}\"") }
        source = .configuration(property)
    }

    /// Returns the fields by table.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the configuration has none, or no fields.
    package func fields(in config: JSON) throws(SluiceError) -> [String: [PropertyName]] {
        switch source {
        case .manifest(let fields): return fields
        case .configuration(let name):
            return try Self.names(JSONPlace(config[name] ?? .object, in: "config", at: "/\(name)"))
        }
    }

    /// Reads the names of fields by table: of each table a list, or an object with a member for each field.
    private static func names(_ place: JSONPlace) throws(SluiceError) -> [String: [PropertyName]] {
        var names: [String: [PropertyName]] = [:]
        for (table, fields) in try place.entries(upTo: Match.maximumValues) {
            var found = fields.value.kind == .object ? fields.value.names : []
            if fields.value.kind != .object {
                for field in try fields.items(upTo: Match.maximumValues) {
                    found.append(PropertyName(try field.text(upTo: 128)))
                }
            }
            guard !found.isEmpty else { throw fields.expected("at least one field") }
            names[table] = found
        }
        guard !names.isEmpty else { throw place.expected("the fields of at least one table, or of \"*\" for all") }
        return names
    }
}
