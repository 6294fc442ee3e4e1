internal import SluiceCore
internal import SluiceLua

/// The functions of a text that are hooks, with the code inside them.
struct HookScopes {
    private let outline: LuaOutline
    private let hooks: [HookKind?]

    /// Names that helpers in other files may have too.
    private static let plainNames: Set<HookKind> = [
        .filter, .request, .response, .read, .insert, .update, .delete, .initialize,
    ]

    /// - Parameter isMain: whether the text is the main file, which returns the hooks.
    init(_ outline: LuaOutline, declared: Set<HookKind>, isMain: Bool) {
        self.outline = outline
        let kinds = isMain ? declared : declared.subtracting(Self.plainNames)
        hooks = outline.functions.map { function in
            guard let name = function.name else { return nil }
            return kinds.first { $0.rawValue == name || outline.aliases[$0.rawValue] == name }
        }
    }

    /// Returns the hook that a function is or is nested in.
    func hook(around function: Int?) -> HookKind? {
        var function = function
        while let index = function {
            if let hook = hooks[index] { return hook }
            function = outline.functions[index].parent
        }
        return nil
    }

    /// The members that a hook's objects do not have, each with its line and a message.
    var unknownMembers: [(line: Int, message: String)] {
        var seen: Set<String> = []
        return outline.members.compactMap { member in
            guard let hook = hooks[member.function],
                let parameters = PluginAPI.hooks.first(where: { $0.kind == hook })?.parameters,
                parameters.indices.contains(member.parameter),
                let message = Self.fault(in: member.path, of: parameters[member.parameter].type),
                seen.insert("\(member.line) \(message)").inserted
            else { return nil }
            return (member.line, message)
        }
    }

    /// Describes the first missing member of a path. Members that depend on data are not checked.
    private static func fault(in path: [String], of type: String) -> String? {
        var type = type
        for (index, name) in path.enumerated().dropFirst() {
            guard type != "sluice.Record", let part = PluginAPI.parts.first(where: { $0.type == type }) else {
                return nil
            }
            guard let member = part.members.first(where: { $0.name == name }) else {
                let there = path[..<index].joined(separator: ".")
                let hint = NearestKey.suggestion(for: name, among: part.members.map(\.name)) ?? ""
                return "there is no \(there).\(name)\(hint)"
            }
            guard case .field = member.form else { return nil }
            type = member.type.replacing("?", with: "")
        }
        return nil
    }
}
