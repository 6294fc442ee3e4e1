public import SluiceCore

/// A plugin's manifest, `plugin.json`: data, read without running anything.
public struct PluginManifest: Sendable {
    /// The plugin's name: `com.example.stock`, or a plain name for plugins that come with Sluice.
    public let name: String
    /// Its version, by semantic versioning: `1.2.0`.
    public let version: String
    /// A sentence on its purpose.
    public let summary: String?
    /// Its author.
    public let author: String?
    /// Its license.
    public let license: String?
    /// The address of its home page.
    public let homepage: String?
    /// Its kinds, as the author names them.
    public let categories: [String]
    /// The version of the plugin API that it was written for: `1.0`.
    public let api: String
    /// The file that returns the hooks.
    public let main: String
    /// The hooks with their declarations. `main` has to return exactly these.
    public let hooks: [HookKind: HookDeclaration]
    /// The fields that its `to_wire` and `from_wire` translate; nil for a plugin without them.
    package let codec: CodecDeclaration?
    /// The schema of its configuration.
    public let configSchema: ConfigSchema
    /// Its permissions.
    public let permissions: PluginPermissions
    /// Whether it runs with a fixed clock, seeded random numbers and no HTTP, and is bounded by fuel alone.
    public let isDeterministic: Bool
    /// The oldest version of Sluice that it runs with.
    public let minimumSDK: String?
    /// Names of plugins that it replaces.
    public let replaces: [String]
    /// Names of plugins that it cannot run beside.
    public let conflicts: [String]
}

extension PluginManifest {
    /// The name of the file.
    package static let fileName = "plugin.json"
    /// The largest file, in bytes.
    static let maximumBytes = 64 << 10
    /// The supported versions of the plugin API.
    static let apis = ["1.0"]

    /// Reads a manifest.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the JSON pointer, the expectation and the value
    ///   found; for an unknown name also the nearest known one.
    public init(bytes: [UInt8], document: String = "plugin.json") throws(SluiceError) {
        guard bytes.count <= Self.maximumBytes else {
            throw SluiceError(
                .invalidArgument, "\(document): expected at most \(Self.maximumBytes) bytes, found \(bytes.count)")
        }
        let json: JSON
        do throws(JSON.ParseError) {
            json = try JSON(parsing: bytes, maximumValues: 10_000)
        } catch {
            throw SluiceError(.invalidArgument, "\(document): \(error)")
        }
        self = try ManifestReader(JSONPlace(json, in: document)).manifest()
    }
}

/// Reads the parts of a manifest.
struct ManifestReader {
    private static let names = [
        "name", "version", "description", "author", "license", "homepage", "categories", "api", "main", "hooks",
        "config_schema", "permissions", "deterministic", "min_sdk", "replaces", "conflicts",
        "codec",
    ]
    private let root: JSONPlace
    private let members: [String: JSONPlace]

    init(_ root: JSONPlace) throws(SluiceError) {
        self.root = root
        members = try root.members(Self.names + ["$schema"])
    }

    func manifest() throws(SluiceError) -> PluginManifest {
        let name = try pluginName(needed("name"))
        let schema = try members["config_schema"].map(ConfigSchema.init) ?? .none
        let permissions = try members["permissions"].map { (place) throws(SluiceError) in
            try PermissionsReader.permissions(place, schema)
        }
        let isDeterministic = try members["deterministic"]?.flag() ?? false
        if isDeterministic, let hosts = permissions?.http, !hosts.isEmpty {
            throw members["permissions"]?.refusal("a deterministic plugin has no http") ?? root.refusal("no http")
        }
        let hooks = try HooksReader(plugin: name).hooks(needed("hooks"))
        return PluginManifest(
            name: name, version: try semanticVersion(needed("version")).text,
            summary: try members["description"]?.text(), author: try members["author"]?.text(),
            license: try members["license"]?.text(), homepage: try members["homepage"].map(homepage),
            categories: try texts("categories"), api: try api(needed("api")),
            main: try members["main"].map(main) ?? "main.lua",
            hooks: hooks, codec: try codec(hooks, schema),
            configSchema: schema,
            permissions: permissions ?? PluginPermissions(), isDeterministic: isDeterministic,
            minimumSDK: try members["min_sdk"].map(minimumSDK), replaces: try pluginNames("replaces"),
            conflicts: try pluginNames("conflicts"))
    }

    private func codec(
        _ hooks: [HookKind: HookDeclaration], _ schema: ConfigSchema
    ) throws(SluiceError) -> CodecDeclaration? {
        guard let place = members["codec"] else {
            if hooks[.toWire] == nil { return nil }
            throw root.refusal("expected a member codec with the fields of to_wire and from_wire, found none")
        }
        guard hooks[.toWire] != nil else { throw place.refusal("the hooks to_wire and from_wire are missing") }
        return try CodecDeclaration(place, schema)
    }

    private func needed(_ name: String) throws(SluiceError) -> JSONPlace {
        guard let place = members[name] else { throw root.refusal("expected a member \(name), found none") }
        return place
    }

    private func texts(_ name: String) throws(SluiceError) -> [String] {
        guard let place = members[name] else { return [] }
        var texts: [String] = []
        for element in try place.items(upTo: 32) { texts.append(try element.text(upTo: 128)) }
        return texts
    }

    private func pluginNames(_ name: String) throws(SluiceError) -> [String] {
        guard let place = members[name] else { return [] }
        var names: [String] = []
        for element in try place.items(upTo: 64) { names.append(try pluginName(element)) }
        return names
    }

    private func pluginName(_ place: JSONPlace) throws(SluiceError) -> String {
        guard let text = place.value.string, PluginManifest.isName(text) else {
            throw place.expected(
                "a name such as \"com.example.stock\": small letters, digits and \"-\" between dots, at most 64")
        }
        return text
    }

    private func semanticVersion(_ place: JSONPlace) throws(SluiceError) -> SemanticVersion {
        guard let version = place.value.string.flatMap(SemanticVersion.init) else {
            throw place.expected("a version such as \"1.2.0\"")
        }
        return version
    }

    private func api(_ place: JSONPlace) throws(SluiceError) -> String {
        guard let text = place.value.string, PluginManifest.apis.contains(text) else {
            let known = PluginManifest.apis.map { "\"\($0)\"" }.joined(separator: ", ")
            throw place.expected("\(known), a version of the plugin API that Sluice \(SluiceVersion.text) has")
        }
        return text
    }

    private func minimumSDK(_ place: JSONPlace) throws(SluiceError) -> String {
        let wanted = try semanticVersion(place)
        if let here = SemanticVersion(SluiceVersion.text), here < wanted {
            throw place.refusal("the plugin needs Sluice \(wanted.text) or newer, this is \(here.text)")
        }
        return wanted.text
    }

    private func homepage(_ place: JSONPlace) throws(SluiceError) -> String {
        guard let text = place.value.string, ConfigFormat.uri.read(text) != nil else {
            throw place.expected(ConfigFormat.uri.expectation)
        }
        return text
    }

    private func main(_ place: JSONPlace) throws(SluiceError) -> String {
        guard let text = place.value.string, text.hasSuffix(".lua"), BundleName.module(of: text) != nil,
            !text.contains("/")
        else { throw place.expected("the name of a file of the bundle, such as \"main.lua\"") }
        return text
    }
}

extension PluginManifest {
    /// Whether the text can be a plugin's name.
    package static func isName(_ text: String) -> Bool {
        guard text.utf8.count <= 64 else { return false }
        return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            guard let first = label.utf8.first, let last = label.utf8.last else { return false }
            let dash = UInt8(ascii: "-")
            return first != dash && last != dash
                && label.utf8.allSatisfy {
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == dash
                }
        }
    }
}

/// A version of semantic versioning 2.0.0, reduced to the need of plugins: the order of two versions.
struct SemanticVersion: Sendable, Comparable {
    let text: String
    private let numbers: [Int]
    private let preview: [Substring]

    /// Reads a version; nil if the text is not one.
    init?(_ text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let parts = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        let core = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = core[0].split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3, numbers.allSatisfy(Self.isNumber) else { return nil }
        preview = core.count > 1 ? core[1].split(separator: ".", omittingEmptySubsequences: false) : []
        let build = parts.count > 1 ? parts[1].split(separator: ".", omittingEmptySubsequences: false) : []
        guard (preview + build).allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isWord) }) else { return nil }
        self.numbers = numbers.compactMap { Int($0) }
        guard self.numbers.count == 3 else { return nil }
        self.text = text
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isDigit) && (text == "0" || text.utf8.first != UInt8(ascii: "0"))
    }

    static func == (left: SemanticVersion, right: SemanticVersion) -> Bool {
        left.numbers == right.numbers && left.preview == right.preview
    }

    static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
        if left.preview.isEmpty || right.preview.isEmpty { return !left.preview.isEmpty && right.preview.isEmpty }
        return left.preview.lexicographicallyPrecedes(right.preview) { one, other in
            switch (isNumber(one) ? Int(one) : nil, isNumber(other) ? Int(other) : nil) {
            case (let one?, let other?): one < other
            case (_?, nil): true
            case (nil, _?): false
            case (nil, nil): one.utf8.lexicographicallyPrecedes(other.utf8)
            }
        }
    }
}
