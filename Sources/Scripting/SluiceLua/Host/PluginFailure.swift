/// A call of a plugin that did not come to a good end: the ``SluiceError/cause`` of errors that plugins cause.
///
/// Its text never holds a secret's value; it holds what the script put into an error of its own.
public struct PluginFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The script raised an error.
        case runtime
        /// The fuel ran out.
        case fuel
        /// One stretch of work took too much of the thread's time.
        case burst
        /// All stretches together did.
        case cpu
        /// The call took too long, waits included.
        case deadline
        /// The memory limit.
        case memory
        /// The hook returned something it may not return.
        case badResult = "bad_result"
        /// The script waited where it cannot.
        case yield
        /// The script called a function that plugins do not have.
        case blockedFunction = "blocked_function"
        /// The plugin lacks a permission.
        case permission
        /// The task was cancelled, or the plugin was unloaded, while the script waited.
        case cancelled
        /// The script failed too often of late and was not asked.
        case breakerOpen = "breaker_open"
        /// The plugin could not be loaded.
        case load
    }

    /// The plugin's name.
    public var plugin: String
    /// The hook that was called; `load` while the plugin was loaded.
    public var hook: String
    /// What went wrong.
    public var kind: Kind
    /// What happened, for the plugin's author.
    public var message: String
    /// The file of the bundle in which it happened, where that is known.
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
