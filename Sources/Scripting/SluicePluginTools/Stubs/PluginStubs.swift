public import SluiceCore
internal import SluiceLua

/// What an editor wants to know: the plugin API, and the tables of a deployment, as annotations of LuaLS.
public struct PluginStubs: Sendable {
    private let tables: [TableSchema]

    /// Stubs for the API, with those tables.
    public init(tables: [TableSchema] = []) { self.tables = tables }

    /// The files, by their paths in a plugin's folder. Their names have a dot in front: they are no part of the bundle.
    public var files: [String: String] {
        [
            LuaStubs.configuration.name: LuaStubs.configuration.text,
            ".luals/sluice.d.lua": LuaStubs.text(tables: tables),
        ]
    }

    /// Writes the files into a plugin's folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where that cannot be done.
    public func write(to folder: String) throws(SluiceError) {
        try AuthorFolder(folder).write(files.mapValues { Array($0.utf8) })
    }
}
