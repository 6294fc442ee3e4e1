public import SluiceCore
internal import SluiceLua

/// Stubs for editors: the plugin API and the tables of a deployment, as annotations of LuaLS.
public struct PluginStubs: Sendable {
    private let tables: [TableSchema]

    /// Creates stubs for the API and those tables.
    public init(tables: [TableSchema] = []) { self.tables = tables }

    /// The files, by their paths in a plugin's folder. Their names begin with a dot: they are not part of the bundle.
    public var files: [String: String] {
        [
            LuaStubs.configuration.name: LuaStubs.configuration.text,
            ".luals/sluice.d.lua": LuaStubs.text(tables: tables),
        ]
    }

    /// Writes the files into a plugin's folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if they cannot be written.
    public func write(to folder: String) throws(SluiceError) {
        try AuthorFolder(folder).write(files.mapValues { Array($0.utf8) })
    }
}
