/// A hook of a plugin, by the name under which `main.lua` returns its function.
///
/// This folder alone holds the differences between hooks: the chain, whether the hook may wait, its limits, the effect
/// of a failure, and its decisions.
public enum HookKind: String, Sendable, Hashable, CaseIterable, Encodable {
    /// Around one HTTP exchange.
    case filter
    /// A request before it is sent.
    case request
    /// A received answer.
    case response
    /// The value of a field on its way to the server.
    case toWire = "to_wire"
    /// The value of a field from the server.
    case fromWire = "from_wire"
    /// A local write before it is queued.
    case beforeEnqueue = "before_enqueue"
    /// A queued operation before it is sent.
    case beforePush = "before_push"
    /// A conflict of a local change with the server's: 409, 412, or a pulled record with a queued operation.
    case onConflict = "on_conflict"
    /// An operation that failed for another reason.
    case onPushError = "on_push_error"
    /// A pulled record before it is stored.
    case afterPull = "after_pull"
    /// A page of pulled records before they are stored.
    case afterPullPage = "after_pull_page"
    /// The times of pushes and pulls.
    case onSchedule = "on_schedule"
    /// An event; the hook only observes it.
    case onEvent = "on_event"
    /// On a server, around a request that reads a table.
    case read
    /// On a server, around a request that inserts a record.
    case insert
    /// On a server, around a request that updates a record or undeletes one.
    case update
    /// On a server, around a request that deletes a record.
    case delete
    /// Once for each VM, after the configuration is checked.
    case initialize = "init"

    /// Whether host functions that wait may be called. A hook may not wait inside a transaction of the store or during
    /// a local write.
    public var mayWait: Bool {
        switch self {
        case .filter, .request, .response, .beforePush, .onConflict, .onPushError, .onSchedule, .onEvent: true
        case .read, .insert, .update, .delete: true
        case .toWire, .fromWire, .beforeEnqueue, .afterPull, .afterPullPage, .initialize: false
        }
    }

    /// Whether the hook translates the values of fields. Nothing that is kept or said of its calls may hold a value.
    package var isCodec: Bool { self == .toWire || self == .fromWire }

    /// The chain of the hook; nil for `init`, which is in none.
    public var chain: HookChain? {
        switch self {
        case .filter, .request, .response: .http
        case .toWire, .fromWire: .codec
        case .beforeEnqueue: .enqueue
        case .beforePush: .push
        case .onConflict: .conflict
        case .onPushError: .pushError
        case .afterPull, .afterPullPage: .pull
        case .onSchedule: .schedule
        case .onEvent: .event
        case .read, .insert, .update, .delete: .table
        case .initialize: nil
        }
    }

    /// The names of `decide.NAME` that the hook may return. A hook with none returns nothing, or its argument
    /// (`filter`: the answer).
    public var decisions: [String] {
        switch self {
        case .filter: ["respond", "fail"]
        case .request, .response: ["respond", "retry", "fail"]
        case .beforeEnqueue: ["reject", "local_only"]
        case .beforePush: ["skip", "defer", "change_action", "batch_key"]
        case .onConflict: ["server", "client", "merge", "delete", "discard", "defer", "ask", "abort", "next"]
        case .onPushError:
            ["retry", "cancel_and_discard", "cancel_and_update", "change_action", "park", "abort", "next"]
        case .afterPull, .afterPullPage: ["drop"]
        case .onSchedule: ["push", "pull", "wait"]
        case .read, .insert, .update, .delete: ["refuse"]
        case .toWire, .fromWire, .onEvent, .initialize: []
        }
    }

    /// The conditions that a `match` of the hook may use: facts known when the hook is called.
    public var conditions: [MatchCondition] {
        switch self {
        case .filter, .request: [.tables, .methods, .kinds, .hosts, .deployment, .sample]
        case .response: [.tables, .methods, .kinds, .status, .hosts, .deployment, .sample]
        case .beforeEnqueue, .beforePush: [.tables, .kinds, .deployment, .fieldsChanged, .sample]
        case .onConflict: [.tables, .kinds, .status, .deployment, .fieldsChanged, .sample]
        case .onPushError: [.tables, .kinds, .status, .deployment, .sample]
        case .toWire, .fromWire: [.tables]
        case .afterPull, .afterPullPage, .onEvent: [.tables, .deployment]
        case .onSchedule: [.deployment]
        case .read, .insert, .update, .delete: [.tables, .kinds, .deployment]
        case .initialize: []
        }
    }
}

/// A chain of hooks, with at most one link for each plugin. Hooks in Swift are links too.
public enum HookChain: String, Sendable, Hashable, CaseIterable {
    /// Requests and answers: `filter`, `request`, `response`.
    case http
    /// `to_wire`, `from_wire`. The order in this chain is without effect, because each field has one codec.
    case codec
    /// `before_enqueue`.
    case enqueue
    /// `before_push`.
    case push
    /// `on_conflict`. In this chain the narrowest match goes first.
    case conflict
    /// `on_push_error`.
    case pushError = "push-error"
    /// `after_pull`, `after_pull_page`.
    case pull
    /// `on_schedule`.
    case schedule
    /// `on_event`.
    case event
    /// `read`, `insert`, `update`, `delete`, on a server.
    case table

    /// The hooks of the chain.
    public var hooks: [HookKind] { HookKind.allCases.filter { $0.chain == self } }
}
