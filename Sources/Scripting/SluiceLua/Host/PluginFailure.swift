internal import CLuaSandbox
internal import SluiceCore

/// A failed call of a plugin: the ``SluiceError/cause`` of errors that plugins cause.
///
/// Its text never contains a secret's value, but it contains the text of the script's own errors.
public struct PluginFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a failure.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The script raised an error.
        case runtime
        /// The fuel ran out.
        case fuel
        /// The script used too much CPU time between two waits.
        case burst
        /// The script used too much CPU time in all.
        case cpu
        /// The call took too long, waits included.
        case deadline
        /// The memory limit was reached.
        case memory
        /// The hook returned a result that it may not return.
        case badResult = "bad_result"
        /// The script waited in a hook that may not wait.
        case yield
        /// The script called a function that plugins do not have.
        case blockedFunction = "blocked_function"
        /// The plugin lacks a permission.
        case permission
        /// The task was cancelled, or the plugin was unloaded, while the script waited.
        case cancelled
        /// The script failed too often recently and was not called.
        case breakerOpen = "breaker_open"
        /// The plugin could not be loaded.
        case load
    }

    /// The plugin's name.
    public var plugin: String
    /// The hook that was called; `load` while the plugin was being loaded.
    public var hook: String
    /// The kind of the failure.
    public var kind: Kind
    /// A description for the plugin's author.
    public var message: String
    /// The file of the bundle with the failure, if known.
    public var file: String?
    /// The line in that file.
    public var line: Int?

    package init(plugin: String, hook: String, _ failure: ScriptFailure) {
        self.plugin = plugin
        self.hook = hook
        kind = failure.kind
        message = failure.message
        file = failure.file
        line = failure.line
    }

    /// `acme.audit, before_push, main.lua:41: the fuel ran out`.
    public var description: String {
        let place = file.map { file in line.map { ", \(file):\($0)" } ?? ", \(file)" } ?? ""
        return "\(plugin), \(hook)\(place): \(message)"
    }
}

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
