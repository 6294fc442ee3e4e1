internal import SluiceLua

/// What kind of plugin `sluice plugin new` begins.
public enum ScaffoldKind: String, Sendable, Hashable, CaseIterable {
    /// Decides conflicts.
    case conflict
    /// Stands around requests.
    case filter
    /// Sees requests before they are sent.
    case request
    /// Sees answers.
    case response
    /// Looks at local writes.
    case beforeEnqueue = "before_enqueue"
    /// Looks at operations before they are sent.
    case beforePush = "before_push"
    /// Decides about operations that failed.
    case pushError = "push_error"
    /// Looks at pulled records.
    case afterPull = "after_pull"
    /// Has a say in when to synchronise.
    case schedule
}
