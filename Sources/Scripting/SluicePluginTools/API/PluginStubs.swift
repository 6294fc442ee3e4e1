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

/// The files for an editor with the Lua language server: stubs of the API and of the deployment's own tables.
enum LuaStubs {
    /// The settings file of the language server, with its name.
    package static let configuration = (
        name: ".luarc.json",
        text: """
        {
          "runtime.version": "Lua 5.4",
          "runtime.builtin": {
            "coroutine": "disable", "debug": "disable", "ffi": "disable", "io": "disable", "jit": "disable",
            "os": "disable", "package": "disable"
          },
          "workspace.library": [".luals"]
        }

        """
    )

    /// Returns `sluice.d.lua`: the API, with a class for each table.
    package static func text(tables: [TableSchema] = []) -> String {
        let parts = PluginAPI.parts.map(part)
        let classes = tables.sorted { $0.name < $1.name }.map(table)
        return ([start] + parts + [hooks] + classes).joined(separator: "\n\n") + "\n"
    }

    private static var start: String {
        let rules = PluginAPI.mergeRules.map { "'\"\($0.name)\"'" }.joined(separator: "|")
        return """
            ---@meta sluice
            -- The plugin API, version \(PluginAPI.version). Made by `sluice plugin stubs`.

            ---@alias sluice.MergeRule \(rules)
            ---@alias sluice.FieldRule sluice.MergeRule|fun(client: any, server: any, base: any): any

            ---@class sluice.Decision

            ---@class sluice.Deployment
            ---@field id string
            ---@field labels table<string, string>

            ---@class sluice.Trace
            ---@field set fun(name: string, value: any)
            ---@field event fun(name: string)
            """
    }

    private static func part(_ part: PluginAPI.Part) -> String {
        let variable = part.isModule ? part.name : part.type.replacing("sluice.", with: "_")
        var lines = part.text.split(separator: "\n").map { "---\($0)" }
        lines.append("---@class \(part.type)")
        for member in part.members {
            if case .field = member.form { lines.append("---@field \(field(member))") }
        }
        lines.append(part.isModule ? "\(variable) = {}" : "local \(variable) = {}")
        for member in part.members {
            if case .field = member.form { continue }
            lines.append("")
            lines.append("---\(member.text)")
            for parameter in member.parameters { lines.append("---@param \(parameter.name) \(parameter.type)") }
            if !member.type.isEmpty { lines.append("---@return \(member.type)") }
            let names = member.parameters.map { $0.name.replacing("?", with: "") }.joined(separator: ", ")
            lines.append("function \(variable)\(member.form == .method ? ":" : ".")\(member.name)(\(names)) end")
        }
        return lines.joined(separator: "\n")
    }

    private static func field(_ member: PluginAPI.Member) -> String {
        let isOptional = member.type.hasSuffix("?")
        let type = isOptional ? String(member.type.dropLast()) : member.type
        return "\(member.name)\(isOptional ? "?" : "") \(type) \(member.text)"
    }

    private static var hooks: String {
        var lines = ["---What main.lua returns.", "---@class sluice.Plugin"]
        for hook in PluginAPI.hooks {
            let parameters = hook.parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
            let returns = hook.returns.isEmpty ? "" : ": (\(hook.returns))?"
            lines.append("---@field \(hook.kind.rawValue)? fun(\(parameters))\(returns) \(hook.text)")
        }
        return lines.joined(separator: "\n")
    }

    private static func table(_ table: TableSchema) -> String {
        var lines = ["---A record of the table \(table.name).", "---@class app.\(table.name): sluice.Record"]
        for column in table.columns {
            let type =
                switch column.type {
                case .string, .date: "string"
                case .integer: "integer"
                case .real: "number"
                case .boolean: "boolean"
                case .json: "table"
                }
            let isName = column.name.text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_")
            }
            lines.append("---@field \(isName ? column.name : "[\"\(column.name)\"]")? \(type)")
        }
        return lines.joined(separator: "\n")
    }
}
