public import SluiceCore

/// What an editor wants to know: the plugin API, and the tables of a deployment, as annotations of LuaLS.
public struct PluginStubs: Sendable {
    private let tables: [TableSchema]

    /// Stubs for the API, with those tables.
    public init(tables: [TableSchema] = []) { self.tables = tables }

    /// The files, by their paths in a plugin's folder. Their names have a dot in front: they are no part of the bundle.
    public var files: [String: String] {
        var files = [".luarc.json": JSONLayout.text(Self.settings)]
        if !tables.isEmpty { files[".luals/tables.d.lua"] = tableStubs }
        return files
    }

    /// Writes the files into a plugin's folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where that cannot be done.
    public func write(to folder: String) throws(SluiceError) {
        try AuthorFolder(folder).write(files.mapValues { Array($0.utf8) })
    }

    /// A class for each table: records of it have these fields.
    var tableStubs: String {
        var text = "---@meta\n"
        for table in tables.sorted(by: { $0.name < $1.name }) {
            text +=
                "\n--- A record of the table \(Self.line(table.name)).\n---@class app.\(Self.word(table.name)): Record\n"
            for column in table.columns {
                text += "---@field \(Self.word(column.name)) \(Self.type(of: column.type))?\n"
            }
        }
        return text
    }

    private static func type(of type: TableSchema.ColumnType) -> String {
        switch type {
        case .string: "string"
        case .date: "string"
        case .integer: "integer"
        case .real: "number"
        case .boolean: "boolean"
        case .json: "table"
        }
    }

    /// A name without what would end the annotation.
    private static func word(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
    }

    private static func line(_ text: String) -> String { text.filter { !$0.isNewline } }

    private static let settings: JSON = [
        "runtime.version": "Lua 5.4",
        "runtime.builtin": [
            "coroutine": "disable", "debug": "disable", "io": "disable", "os": "disable", "package": "disable",
        ],
        "workspace.library": [".luals"],
        "diagnostics.disable": ["lowercase-global"],
    ]
}
