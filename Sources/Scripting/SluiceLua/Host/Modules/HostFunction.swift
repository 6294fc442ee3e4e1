internal import SluiceCore

/// A function that the host answers.
struct HostFunction: Sendable {
    typealias Answer = @Sendable (HostFunctionCall) throws -> HostReply

    /// The name in scripts: `text.levenshtein`, `query:get`.
    let name: String
    /// The number of bytes of the first argument for a unit of fuel, beside the price of passing them.
    let fuel: Int?
    /// The permission without which each call is denied.
    let permission: HostPermission?
    /// The body.
    let answer: Answer

    init(_ name: String, fuel: Int? = nil, permission: HostPermission? = nil, _ answer: @escaping Answer) {
        (self.name, self.fuel, self.permission, self.answer) = (name, fuel, permission, answer)
    }

    /// All functions, by their names.
    static let all = Dictionary(
        (HostModule.functions + [nearest] + ofQueries + ofBodies + ofContext + ofNext).map { ($0.name, $0) },
        uniquingKeysWith: { first, _ in first })

    /// Suggests a known name in the place of an unknown option.
    private static let nearest = HostFunction("names.nearest") { call in
        let known = call.arguments[1]?.elements?.compactMap(\.string) ?? []
        return .value(
            NearestKey.suggestion(for: call.arguments[0]?.string ?? "", among: known).map { JSON($0) })
    }
}

/// One call of a host function.
struct HostFunctionCall {
    /// The functions of the plugin, with its permissions and its values.
    let host: HostFunctions
    let arguments: HostArguments
    /// The call of the hook; nil while the plugin is loaded.
    let hook: CallState?
    let meter: HostMeter

    /// Returns the call of the hook.
    ///
    /// - Throws: ``ScriptFailure`` while the plugin is loaded.
    func requireHook() throws(ScriptFailure) -> CallState {
        guard let hook else {
            throw ScriptFailure(.runtime, "\(arguments.function) cannot be used while the plugin is loaded")
        }
        return hook
    }

    /// Returns the call of a hook that may wait.
    ///
    /// - Throws: ``ScriptFailure`` that names the function and the hooks in which it can be used.
    func requireWait() throws(ScriptFailure) -> CallState {
        let hook = try requireHook()
        guard !hook.plan.mayWait else { return hook }
        let allowed = HookKind.allCases.filter(\.mayWait).map(\.rawValue).joined(separator: ", ")
        throw ScriptFailure(
            .yield,
            "\(arguments.function) cannot be used in \(hook.plan.rawValue), which may not wait; allowed in: \(allowed)")
    }
}
