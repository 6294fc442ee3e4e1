internal import SluiceLua

extension PluginAPI {
    /// Global functions beyond Lua's own.
    static let globals = HostModule.globals.map(member)

    /// The modules, from the descriptions of their host.
    static let modules = HostModule.documented.map { module in
        Part(
            name: module.name, type: module.type, text: module.text, isModule: true,
            members: module.members.map(member))
    }

    private static func member(_ member: HostMember) -> Member {
        member.parameters.map { function(member.name, $0, member.type, member.text) }
            ?? field(member.name, member.type, member.text)
    }
}
