/// A point at which the engine calls hooks.
public enum HookPoint: String, Sendable, Hashable, CaseIterable {
    /// A local change is about to be stored with its operation: ``SyncHook/beforeEnqueue(_:)``.
    case beforeEnqueue
    /// An operation is about to be sent: ``SyncHook/beforePush(_:record:)``.
    case beforePush
    /// An operation failed without a conflict: ``SyncHook/onPushError(_:)``.
    case onPushError
    /// Server rows are about to be stored: ``SyncHook/afterPull(_:)``.
    case afterPull
}
