internal import Synchronization

/// What is to be called after each commit of a database.
final class CommitAction: Sendable {
    /// A closure by itself must not be what a mutex holds: each look at it would put one more closure around it, until the
    /// calls within calls fill the stack.
    private struct Held { var action: (@Sendable () -> Void)? }
    private let held = Mutex(Held())

    /// Has `action` called from now on.
    func set(_ action: @escaping @Sendable () -> Void) { held.withLock { $0.action = action } }

    /// Calls it.
    func callAsFunction() { held.withLock { $0.action }?() }
}
