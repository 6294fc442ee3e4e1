internal import SluiceCore
internal import Synchronization

/// What the plugins of one exchange keep for each other: `ctx.shared` for all of them, `ctx.scratch` for the hooks of
/// one.
final class PluginExchange: Sendable {
    /// The exchange that the task is in.
    @TaskLocal static var current: PluginExchange?

    private struct State {
        var shared: JSON?
        var scratch: [String: JSON] = [:]
    }
    private let state = Mutex(State())

    /// The plugin's own and that of all; nil for one in which nothing is yet.
    func bags(of plugin: String) -> (scratch: JSON?, shared: JSON?) {
        state.withLock { ($0.scratch[plugin], $0.shared) }
    }

    func keep(scratch: JSON?, shared: JSON?, of plugin: String) {
        guard scratch != nil || shared != nil else { return }
        state.withLock {
            if let scratch { $0.scratch[plugin] = scratch }
            if let shared { $0.shared = shared }
        }
    }
}
