internal import Synchronization

/// The action to call after each commit of a database.
final class CommitAction: Sendable {
    /// A mutex must not hold a bare closure: each access would wrap it in one more closure, until the nested calls
    /// overflow the stack.
    private struct Held { var action: (@Sendable () -> Void)? }
    private let held = Mutex(Held())

    /// Sets the action for later commits.
    func set(_ action: @escaping @Sendable () -> Void) { held.withLock { $0.action = action } }

    /// Calls the action.
    func callAsFunction() { held.withLock { $0.action }?() }
}
