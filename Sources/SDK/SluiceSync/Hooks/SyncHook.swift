public import SluiceBase

/// Takes part in the engine's work at four points: see ``HookPoint``.
///
/// Hooks form a chain in the order of ``SyncOptions/hooks``: each sees the changes of the one before it, and the first
/// other decision than to continue ends the chain. A hook runs outside of every transaction and may take its time. The
/// engine checks the hook's input again before it carries a decision out. Several calls may run at once.
///
/// A hook that throws never loses anything: the local change is refused, the operation stays in the queue with the
/// reason, the page is not stored and the cursor does not move.
///
/// ```swift
/// struct TitleNeeded: SyncHook {
///     let hookName = "title-needed"
///
///     func wants(_ point: HookPoint, table: String) -> Bool { point == .beforeEnqueue && table == "todos" }
///
///     func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
///         guard let record = change.record, record["title"]?.string?.isEmpty ?? true else { return .accept }
///         return .reject(EnqueueDecision.Refusal("a todo has a title", fields: ["title": "is missing"]))
///     }
/// }
/// ```
public protocol SyncHook: Sendable {
    /// The hook's name, for errors, the log, and the reason that an operation keeps.
    var hookName: String { get }

    /// Whether the hook takes part at that point for that table. If no hook does, the engine does no extra work. The
    /// answer may change from call to call; the default is yes to all.
    func wants(_ point: HookPoint, table: String) -> Bool

    /// Decides about a local change before it is stored. The default accepts it.
    ///
    /// - Throws: any error; the change is then refused with an error of code `hookFailed`.
    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision

    /// Decides about an operation before it is sent. The default sends it.
    ///
    /// - Parameter record: the record after the operation; nil for a delete, and for an undelete of a record that is
    ///   not known here.
    /// - Throws: any error; the operation then stays pending with the error as its reason.
    func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision

    /// Decides about a failed operation without a conflict. The default leaves it to the next hook.
    ///
    /// - Throws: any error; the operation is then kept as without hooks, parked or pending, and the error is added to
    ///   its reason.
    func onPushError(_ failure: PushResult.Failure) async throws -> PushErrorDecision

    /// Decides about server rows before they are stored. The default keeps them all.
    ///
    /// - Returns: one decision for each row, in the rows' order.
    /// - Throws: any error; the page is then not stored, the cursor stays, and the pull ends with an error of code
    ///   `hookFailed`.
    func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision]
}

extension SyncHook {
    /// Takes part at every point.
    public func wants(_ point: HookPoint, table: String) -> Bool { true }
    /// Accepts the change.
    public func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision { .accept }
    /// Sends the operation.
    public func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision { .send }
    /// Leaves it to the next hook.
    public func onPushError(_ failure: PushResult.Failure) async throws -> PushErrorDecision { .next }
    /// Keeps all rows.
    public func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] { page.rows.map { _ in .keep } }
}

/// A hook's decision about a local change before it is stored.
public enum EnqueueDecision: Sendable, Hashable {
    /// It is stored as it is.
    case accept
    /// This whole record is stored instead of the one of an insert or update. Its id must be the same, and the system
    /// columns are not taken from it.
    case change(JSON)
    /// It is not stored: the application's call throws an error of code `refusedByHook`.
    case reject(EnqueueDecision.Refusal)
    /// The row is stored without an operation: the change is never sent. A record given here is stored as with
    /// ``change(_:)``. Refused where changes of the record wait in the queue, and in a group.
    case localOnly(JSON? = nil)
}

extension PulledRow {
    /// A hook's decision about a server row.
    public enum Decision: Sendable, Hashable {
        /// It is stored as it is.
        case keep
        /// This whole record is stored in its place. The id and the system columns must be the row's own, or left out.
        case change(JSON)
        /// It is stored with these members, given as an object, replaced or added. System columns must have the row's own
        /// values. It costs less than ``change(_:)`` for a page with many rows.
        case set(JSON)
        /// It is not stored. The local record is removed as if the row had left the query, unless changes of it wait.
        case drop(reason: String)
    }
}

/// The server rows of one page before they are stored, in the order of arrival.
public struct PulledPage: Sendable, Hashable {
    /// The table.
    public var table: String
    /// The name of the query; nil for a pull without one.
    public var queryName: String?
    /// The rows, with the changes of earlier hooks. Rows dropped by an earlier hook and rows that cannot be stored are
    /// left out.
    public var rows: [PulledRow]

    package init(table: String, queryName: String? = nil, rows: [PulledRow]) {
        self.table = table
        self.queryName = queryName
        self.rows = rows
    }
}

/// A hook's decision about an operation before it is sent.
public enum BeforePushDecision: Sendable, Hashable {
    /// It is sent, if the hooks after this one send it too.
    case send
    /// It waits for the next push, with that reason. Later operations of the record wait too, other records do not.
    case skip(reason: String)
    /// It waits for that time, with that reason; pushes until then skip it without asking. The limit is 30 days.
    case `defer`(Duration, reason: String)
    /// It becomes an operation of that kind, with the given record or its own, as by
    /// ``SyncQueue/changeKind(_:to:record:revision:)``. The hooks are asked about it again. If the change is not
    /// allowed, it stays pending with the reason.
    case changeKind(TableOperation.Kind, JSON?)
}

/// A hook's decision about a failed operation.
///
/// A decision that the queue does not allow, such as a change of kind while other changes of the record wait, has no
/// effect: the operation is kept as without hooks, and its reason names the refusal. If the push ends for all
/// operations, as without a network, no decision about one operation continues it.
public enum PushErrorDecision: Sendable, Hashable {
    /// The next hook is asked; after the last one the engine acts as without hooks.
    case next
    /// It stays pending and is not sent before that time is over; zero tries it again in this push, up to five times. A
    /// failure that counts still counts: at ``SyncOptions/maximumAttempts`` in a row the operation is dead.
    case retry(after: Duration)
    /// It is given up, as by ``SyncQueue/discard(_:revision:goesOnElsewhere:)``: the record returns to the server's
    /// last known state, and the audit keeps the operation.
    case cancelAndDiscard
    /// It is given up, and this whole record is stored locally until the server's changes. The audit keeps the
    /// operation. Refused where later changes of the record wait.
    case cancelAndUpdate(JSON)
    /// It becomes an operation of that kind, with the given record or its own, as by
    /// ``SyncQueue/changeKind(_:to:record:revision:)``, and is sent again. To replace the record of an update only, the
    /// kind stays update.
    case changeKind(TableOperation.Kind, JSON?)
    /// It is parked with that reason until someone decides.
    case park(reason: String)
    /// It stays as without hooks, and the rest of this push is not done.
    case abort
}

extension EnqueueDecision {
    /// The reason of a hook for refusing a local change. It is the ``SluiceError/cause`` of the error that the application
    /// gets.
    ///
    /// ```swift
    /// do {
    ///     try await todos.insert(["title": ""])
    /// } catch let error as SluiceError where error.code == .refusedByHook {
    ///     for (field, problem) in error.refusal?.fields ?? [:] { print(field, problem) }
    /// }
    /// ```
    public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The hook author's code for the reason, for programs; nil for none.
        public var code: String?
        /// The reason, for a person.
        public var message: String
        /// The problems of single fields, by field name.
        public var fields: [String: String]
        /// The part of the hook that refuses, such as a plugin; nil for the hook itself.
        public var hookName: String?

        /// A reason.
        public init(_ message: String, code: String? = nil, fields: [String: String] = [:], hookName: String? = nil) {
            self.code = code
            self.message = message
            self.fields = fields
            self.hookName = hookName
        }

        /// The code and the fields; the message is the error's own.
        public var description: String {
            let problems = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            return ((code.map { [$0] } ?? []) + problems).joined(separator: ", ")
        }
    }
}

extension SluiceError {
    /// The reason of the hook that refused the change, for an error of code `refusedByHook`.
    public var refusal: EnqueueDecision.Refusal? { cause as? EnqueueDecision.Refusal }
}
