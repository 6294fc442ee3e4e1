public import SluiceCore

extension PluginManifest {
    /// The name of the file.
    package static let fileName = "plugin.json"
    /// The largest file, in bytes.
    static let maximumBytes = 64 << 10
    /// The versions of the plugin API that there are.
    static let apis = ["1.0"]

    /// Reads a manifest.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the JSON pointer, what was expected and what is
    ///   there; for an unknown name the nearest one.
    public init(bytes: [UInt8], document: String = "plugin.json") throws(SluiceError) {
        guard bytes.count <= Self.maximumBytes else {
            throw SluiceError(
                .invalidArgument, "\(document): expected at most \(Self.maximumBytes) bytes, found \(bytes.count)")
        }
        let json: JSON
        do throws(JSONParseError) {
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
        return PluginManifest(
            name: name, version: try semanticVersion(needed("version")).text,
            summary: try members["description"]?.text(), author: try members["author"]?.text(),
            license: try members["license"]?.text(), homepage: try members["homepage"].map(homepage),
            categories: try texts("categories"), api: try api(needed("api")),
            main: try members["main"].map(main) ?? "main.lua",
            hooks: try HooksReader(plugin: name).hooks(needed("hooks")),
            configSchema: schema,
            permissions: permissions ?? PluginPermissions(), isDeterministic: isDeterministic,
            minimumSDK: try members["min_sdk"].map(minimumSDK), replaces: try pluginNames("replaces"),
            conflicts: try pluginNames("conflicts"))
    }

    private func needed(_ name: String) throws(SluiceError) -> JSONPlace {
        guard let place = members[name] else { throw root.refusal("expected a member \(name), found none") }
        return place
    }

    private func texts(_ name: String) throws(SluiceError) -> [String] {
        guard let place = members[name] else { return [] }
        var texts: [String] = []
        for element in try place.elements(upTo: 32) { texts.append(try element.text(upTo: 128)) }
        return texts
    }

    private func pluginNames(_ name: String) throws(SluiceError) -> [String] {
        guard let place = members[name] else { return [] }
        var names: [String] = []
        for element in try place.elements(upTo: 64) { names.append(try pluginName(element)) }
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
