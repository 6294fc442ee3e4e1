internal import SluiceCore

/// A module of the plugin API, described once. The prelude, the page of the documentation, the editor's stubs, the
/// price of the functions and the check of permissions are made from it.
package struct HostModule: Sendable {
    /// The name of the global: `crypto`.
    package let name: String
    /// The class in the stubs: `sluice.Crypto`.
    package let type: String
    /// A description.
    package let text: String
    /// The permission that all members need.
    package let permission: HostPermission?
    /// The members, in the order of the documentation.
    package let members: [HostMember]
    /// The functions that only the prelude calls, with their whole names.
    private let hidden: [HostFunction]
    /// The Lua expression of the table before its members are set.
    private let base: String
    /// The Lua text before the table.
    private let before: String
    /// The Lua text after the members are set.
    private let after: String

    init(
        _ name: String, _ type: String, _ text: String, permission: HostPermission? = nil, base: String = "{}",
        before: String = "", _ members: [HostMember], after: String = "", hidden: [HostFunction] = []
    ) {
        (self.name, self.type, self.text, self.permission) = (name, type, text, permission)
        (self.base, self.before, self.members, self.after, self.hidden) = (base, before, members, after, hidden)
    }

    /// The modules of the documentation, in its order.
    package static let documented = [decide, json, time, crypto, http, kv, secrets, store, text, log]
    /// All modules. `math` is Lua's own, except for chance.
    package static let all = documented + [math]

    /// The functions of all modules that the host answers, by their whole names.
    static let functions: [HostFunction] = all.flatMap { module in
        module.hidden
            + module.members.compactMap { member in
                member.answer.map {
                    HostFunction("\(module.name).\(member.name)", fuel: member.fuel, permission: member.permission, $0)
                }
            }
    }

    /// The Lua text that makes the module a local variable of its name.
    var lua: String {
        let lines = members.map { member in
            "\(name).\(member.name) = \(member.lua ?? "of \"\(name).\(member.name)\"")\n"
        }
        return "\(before)local \(name) = \(base)\n\(lines.joined())\(after)\(name) = freeze(\(name))\n\n"
    }
}

/// A member of a module, or a global function.
package struct HostMember: Sendable {
    package typealias Parameters = [(name: String, type: String)]

    /// The name.
    package let name: String
    /// The parameters as in a stub, with a question mark after the name of an optional one; nil for a field.
    package let parameters: Parameters?
    /// The type of the field or of the returned value; empty for none.
    package let type: String
    /// A description.
    package let text: String
    /// The permission that this member needs, beside the module's.
    package let permission: HostPermission?
    /// The number of bytes of the first argument for a unit of fuel, beside the price of passing them.
    let fuel: Int?
    /// The Lua expression; nil for the host function of the same name.
    let lua: String?
    /// The body in Swift; nil where Lua suffices.
    let answer: HostFunction.Answer?

    /// A function with a body in Swift. A Lua expression stands between the script and it, if one is given.
    static func host(
        _ name: String, _ parameters: Parameters = [], _ type: String = "", _ text: String,
        permission: HostPermission? = nil, fuel: Int? = nil, lua: String? = nil, _ answer: @escaping HostFunction.Answer
    ) -> HostMember {
        HostMember(
            name: name, parameters: parameters, type: type, text: text, permission: permission, fuel: fuel, lua: lua,
            answer: answer)
    }

    /// A function in Lua.
    static func lua(
        _ name: String, _ parameters: Parameters = [], _ type: String = "", _ text: String, _ lua: String
    ) -> HostMember {
        HostMember(
            name: name, parameters: parameters, type: type, text: text, permission: nil, fuel: nil, lua: lua,
            answer: nil)
    }

    /// A field.
    static func field(_ name: String, _ type: String, _ text: String, _ lua: String) -> HostMember {
        HostMember(
            name: name, parameters: nil, type: type, text: text, permission: nil, fuel: nil, lua: lua, answer: nil)
    }
}

/// A permission of a manifest for modules and functions.
package enum HostPermission: String, Sendable, CaseIterable {
    case http, kv, secrets, tables, clock, random

    /// Whether a manifest asks for the permission.
    package func isGranted(by permissions: PluginPermissions) -> Bool {
        switch self {
        case .http: !permissions.http.isEmpty
        case .kv: permissions.kvBytes > 0
        case .secrets: !permissions.secrets.isEmpty
        case .tables: !permissions.tables.isEmpty
        case .clock: permissions.clock
        case .random: permissions.random
        }
    }
}

extension HostModule {
    /// `json`: the sandbox's own functions.
    static let json = HostModule(
        "json", "sluice.JSON", "JSON values.",
        [
            .lua("encode", [("value", "any")], "string", "The value as JSON text.", "p.json_encode"),
            .lua(
                "decode", [("text", "string")], "any", "The value of a text; nil and a message for what is no JSON.",
                "p.json_decode"),
            .field(
                "null", "any", "JSON's null. A field that is null is equal to it; one that is missing is nil.", "null"),
            .lua(
                "array", [("list", "table")], "table", "Marks a table as an array, which an empty one needs.", "p.array"
            ),
            .lua(
                "object", [("members", "table")], "table", "Marks a table as an object.",
                "function(t) return object(t) end"),
        ])

    /// `math`: Lua's own, except for chance: a fixture gets the same numbers each time.
    static let math = HostModule(
        "math", "", "Lua's own.", base: "copy(math)",
        before: #"""
            local function copy(t)
              local copied = {}
              for name, value in pairs(t) do copied[name] = value end
              return copied
            end

            """#,
        [
            .host("random", [("from?", "integer"), ("to?", "integer")], "number", "A number.", permission: .random) {
                .value(try CryptoFunctions.chance($0))
            }
        ])

    /// Global functions beyond Lua's own.
    package static let globals: [HostMember] = [
        .lua(
            "print", [("...", "any")], "",
            "Writes a line at the level `debug`, as `log.debug` does: the values as `tostring` has them, a tab between two.",
            #"""
            function(...)
              local count, parts = select("#", ...), { ... }
              for i = 1, count do parts[i] = tostring(parts[i]) end
              tell("log", "debug", concat(parts, "\t", 1, count))
            end
            """#)
    ]
}
