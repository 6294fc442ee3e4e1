public import SluiceCore
internal import SluiceLua

/// A new plugin: a bundle that can be checked and tested at once, as a start for its author.
public struct PluginScaffold: Sendable {
    /// The files, by their paths in the folder.
    public let files: [String: [UInt8]]

    /// Creates a plugin of that name and kind.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the name is invalid.
    public init(name: String, kind: ScaffoldKind, tables: [TableSchema] = []) throws(SluiceError) {
        guard PluginManifest.isName(name) else {
            throw SluiceError(
                .invalidArgument,
                "\(name) cannot be a plugin's name: small letters, digits and \"-\" between dots, at most 64")
        }
        let template = ScaffoldTemplate.template(kind)
        var manifest: JSON = [
            "name": JSON(name), "version": "0.1.0", "description": JSON(template.summary), "api": "1.0",
            "hooks": template.hooks, "config_schema": template.schema,
        ]
        if let permissions = template.permissions { manifest["permissions"] = permissions }
        var files = [
            PluginManifest.fileName: JSONLayout.text(manifest), "main.lua": template.main + "\n",
            "README.md": Self.readme(name, template, manifest),
        ]
        for (file, json) in template.fixtures { files["tests/\(file).json"] = JSONLayout.text(json) }
        for (file, text) in PluginStubs(tables: tables).files { files[file] = text }
        self.files = files.mapValues { Array($0.utf8) }
    }

    /// Writes the files into a folder that is new or empty.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the folder is not empty.
    public func write(to folder: String) throws(SluiceError) { try AuthorFolder(folder).write(files, isNew: true) }

    private static func readme(_ name: String, _ template: ScaffoldTemplate, _ manifest: JSON) -> String {
        let hooks = template.hooks.names.map { "`\($0)`" }.joined(separator: ", ")
        let settings = (template.schema["properties"]?.members ?? []).map { name, node in
            "| `\(name)` | \(node["description"]?.string ?? "") | `\(node["default"] ?? .null)` |"
        }
        return """
            # \(name)

            \(template.summary) Hooks: \(hooks).

            | setting | | default |
            |---|---|---|
            \(settings.joined(separator: "\n"))

            ```
            sluice plugin check .      # is it whole?
            sluice plugin test .       # does it do what tests/ says?
            ```

            In the deployment's policy:

            ```yaml
            plugins:
              \(name):
                path: \(name)
            ```

            """
    }
}
