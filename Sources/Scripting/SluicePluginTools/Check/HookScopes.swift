internal import SluiceCore
internal import SluiceLua

/// Which functions of a text are hooks, and what stands inside of them.
struct HookScopes {
    private let outline: LuaOutline
    private let hooks: [HookKind?]

    /// Helpers of other files may have these names too.
    private static let plainNames: Set<HookKind> = [
        .filter, .request, .response, .read, .insert, .update, .delete, .initialize,
    ]

    /// - Parameter isMain: whether the text is the one that returns the hooks.
    init(_ outline: LuaOutline, declared: Set<HookKind>, isMain: Bool) {
        self.outline = outline
        let kinds = isMain ? declared : declared.subtracting(Self.plainNames)
        hooks = outline.functions.map { function in
            guard let name = function.name else { return nil }
            return kinds.first { $0.rawValue == name || outline.aliases[$0.rawValue] == name }
        }
    }

    /// The hook that a function is or stands in.
    func hook(around function: Int?) -> HookKind? {
        var function = function
        while let index = function {
            if let hook = hooks[index] { return hook }
            function = outline.functions[index].parent
        }
        return nil
    }

    /// Members that the objects of hooks do not have: each with its line, and what is wrong.
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

    /// The first member of a path that is not there; what depends on data alone is not known.
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
