/// A place of the engine at which hooks are asked.
public enum HookPoint: String, Sendable, Hashable, CaseIterable {
    /// A local change is about to be stored with its operation: ``SyncHook/beforeEnqueue(_:)``.
    case beforeEnqueue
    /// An operation is about to be sent: ``SyncHook/beforePush(_:record:)``.
    case beforePush
    /// An operation did not go through, and it is no conflict: ``SyncHook/onPushError(_:)``.
    case onPushError
    /// Rows of the server's are about to be stored: ``SyncHook/afterPull(_:)``.
    case afterPull
}
