internal import CLuaSandbox
internal import SluiceCore

/// A failure of a script, not yet attributed to a plugin and a hook.
package struct ScriptFailure: Error, Sendable, Hashable {
    var kind: PluginFailure.Kind
    package var message: String
    var file: String?
    var line: Int?

    package init(_ kind: PluginFailure.Kind, _ message: String, file: String? = nil, line: Int? = nil) {
        self.kind = kind
        self.message = message
        self.file = file
        self.line = line
    }

    /// Reads the sandbox's report of a failed run.
    init(_ outcome: sluice_outcome, _ report: JSON) {
        kind = PluginFailure.Kind(outcome)
        message = report["message"]?.string ?? "the script failed"
        // After `return f(x)` a failure in `f` has no line of the hook.
        file = report["file"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        line = report["line"]?.int.flatMap { $0 > 0 ? Int($0) : nil }
    }
}

extension PluginFailure.Kind {
    init(_ outcome: sluice_outcome) {
        switch outcome {
        case SLUICE_FAILED_FUEL: self = .fuel
        case SLUICE_FAILED_BURST: self = .burst
        case SLUICE_FAILED_CPU: self = .cpu
        case SLUICE_FAILED_MEMORY: self = .memory
        case SLUICE_FAILED_RESULT: self = .badResult
        case SLUICE_FAILED_YIELD: self = .yield
        case SLUICE_FAILED_BLOCKED: self = .blockedFunction
        case SLUICE_FAILED_PERMISSION: self = .permission
        case SLUICE_FAILED_CANCELLED: self = .cancelled
        default: self = .runtime
        }
    }
}
