public import SluiceCore

/// What a plugin can be asked: the hooks, by the names under which `main.lua` returns its functions.
///
/// The table of all that differs between them stands in this folder, and nowhere else: where each stands, whether it
/// may wait, what it may cost, what becomes of its failure, and what it may decide.
public enum HookKind: String, Sendable, Hashable, CaseIterable {
    /// Around one HTTP exchange.
    case filter
    /// A request that is about to be sent.
    case request
    /// An answer that has come.
    case response
    /// A local write that is about to be queued.
    case beforeEnqueue = "before_enqueue"
    /// A queued operation that is about to be sent.
    case beforePush = "before_push"
    /// A change that meets another of the server's: 409, 412, or a pull that meets a queued operation.
    case onConflict = "on_conflict"
    /// An operation that failed for another reason.
    case onPushError = "on_push_error"
    /// A pulled record that is about to be stored.
    case afterPull = "after_pull"
    /// A page of pulled records that are about to be stored.
    case afterPullPage = "after_pull_page"
    /// When to push and when to pull.
    case onSchedule = "on_schedule"
    /// Something has happened; the hook only looks.
    case onEvent = "on_event"
    /// On a server, around a request that reads a table.
    case read
    /// On a server, around a request that makes a record.
    case insert
    /// On a server, around a request that changes a record, or brings a deleted one back.
    case update
    /// On a server, around a request that deletes a record.
    case delete
    /// Once for each VM, after the configuration was checked.
    case initialize = "init"

    /// Whether host functions that wait may be called. Where they may not, the hook runs in a transaction of the store
    /// or on the way of a local write.
    public var mayWait: Bool {
        switch self {
        case .filter, .request, .response, .beforePush, .onConflict, .onPushError, .onSchedule, .onEvent: true
        case .read, .insert, .update, .delete: true
        case .beforeEnqueue, .afterPull, .afterPullPage, .initialize: false
        }
    }

    /// The chain in which the hook stands; nil for `init`, which stands in none.
    public var chain: HookChain? {
        switch self {
        case .filter, .request, .response: .http
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

    /// The names of `decide.NAME` that the hook may answer with. A hook with none answers with nothing, or with what it
    /// was asked about (`filter`: with the answer).
    public var decisions: [String] {
        switch self {
        case .filter: ["respond", "fail"]
        case .request, .response: ["respond", "retry", "fail"]
        case .beforeEnqueue: ["reject", "local_only"]
        case .beforePush: ["skip", "defer", "change_action", "batch_key"]
        case .onConflict: ["server", "client", "merge", "delete", "discard", "defer", "ask", "next"]
        case .onPushError:
            ["retry", "cancel_and_discard", "cancel_and_update", "change_action", "park", "abort", "next"]
        case .afterPull, .afterPullPage: ["drop"]
        case .onSchedule: ["push", "pull", "wait"]
        case .read, .insert, .update, .delete: ["refuse"]
        case .onEvent, .initialize: []
        }
    }

    /// What a `match` of the hook may ask for: what is known when the hook is asked.
    public var conditions: [MatchCondition] {
        switch self {
        case .filter, .request: [.tables, .methods, .kinds, .hosts, .deployment, .sample]
        case .response: [.tables, .methods, .kinds, .status, .hosts, .deployment, .sample]
        case .beforeEnqueue, .beforePush: [.tables, .kinds, .deployment, .fieldsChanged, .sample]
        case .onConflict: [.tables, .kinds, .status, .deployment, .fieldsChanged, .sample]
        case .onPushError: [.tables, .kinds, .status, .deployment, .sample]
        case .afterPull, .afterPullPage, .onEvent: [.tables, .deployment]
        case .onSchedule: [.deployment]
        case .read, .insert, .update, .delete: [.tables, .kinds, .deployment]
        case .initialize: []
        }
    }
}

/// A chain of links of which a plugin is one at the most, and in which hooks of Swift stand too.
public enum HookChain: String, Sendable, Hashable, CaseIterable {
    /// Requests and answers: `filter`, `request`, `response`.
    case http
    /// `before_enqueue`.
    case enqueue
    /// `before_push`.
    case push
    /// `on_conflict`. Here the narrowest match goes first.
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
