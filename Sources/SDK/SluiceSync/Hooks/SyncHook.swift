public import SluiceBase

/// Takes part in what the engine does, at four points: see ``HookPoint``.
///
/// Hooks form a chain in the order of ``SyncOptions/hooks``: each sees what the one before it has changed, and the
/// first that decides something else than to go on ends it. A hook runs outside of every transaction and may take its
/// time; what it decided on is looked at again when its decision is carried out. Several calls may be under way at
/// once.
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
///         return .reject(EnqueueRefusal("a todo has a title", fields: ["title": "is missing"]))
///     }
/// }
/// ```
public protocol SyncHook: Sendable {
    /// The hook's name, for errors, the log, and the reason that an operation keeps.
    var hookName: String { get }

    /// Whether the hook is to be asked at that point about that table. Where no hook is, the engine does no more than
    /// without hooks. The answer may change from call to call; the default is yes to all.
    func wants(_ point: HookPoint, table: String) -> Bool

    /// Looks at a local change before it is stored. The default accepts it.
    ///
    /// - Throws: whatever it likes; the change is then refused with an error of code `hookFailed`.
    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision

    /// Looks at an operation before it is sent. The default sends it.
    ///
    /// - Parameter record: the record as the operation makes it; nil for a delete, and for an undelete of a record that
    ///   is not known here.
    /// - Throws: whatever it likes; the operation then stays pending with the error as its reason.
    func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision

    /// Looks at an operation that did not go through and met no conflict. The default leaves it to the next hook.
    ///
    /// - Throws: whatever it likes; the operation is then kept as it would be without hooks, parked or pending, and the
    ///   error stands beside its reason.
    func onPushError(_ failure: PushFailure) async throws -> PushErrorDecision

    /// Looks at rows of the server's before they are stored. The default keeps them all.
    ///
    /// - Returns: one decision for each row, in the rows' order.
    /// - Throws: whatever it likes; the page is then not stored, the cursor stays, and the pull ends with an error of
    ///   code `hookFailed`.
    func afterPull(_ page: PulledPage) async throws -> [PulledRowDecision]
}

extension SyncHook {
    /// Wants everything.
    public func wants(_ point: HookPoint, table: String) -> Bool { true }
    /// Accepts the change.
    public func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision { .accept }
    /// Sends the operation.
    public func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision { .send }
    /// Leaves it to the next hook.
    public func onPushError(_ failure: PushFailure) async throws -> PushErrorDecision { .next }
    /// Keeps all rows.
    public func afterPull(_ page: PulledPage) async throws -> [PulledRowDecision] { page.rows.map { _ in .keep } }
}

/// What a hook decides about a local change before it is stored.
public enum EnqueueDecision: Sendable, Hashable {
    /// It is stored as it is.
    case accept
    /// This whole record is stored in the place of that of an insert or update. Its id cannot be another, and what only
    /// the server sets is not taken from it.
    case change(JSON)
    /// It is not stored: the application's call throws an error of code `refusedByHook`.
    case reject(EnqueueRefusal)
    /// The row is stored and no operation: the server never hears of it. Refused where changes of the record wait in
    /// the queue, and in a group.
    case localOnly
}

/// What a hook decides about a row of the server's.
public enum PulledRowDecision: Sendable, Hashable {
    /// It is stored as it is.
    case keep
    /// This whole record is stored in its place. The id and what only the server sets have to be the row's own, or left
    /// out.
    case change(JSON)
    /// It is stored with these members, the members of an object, in the place of its own or added to them. Those that
    /// only the server sets have to be the row's own. It costs less than ``change(_:)`` where a page has many rows.
    case set(JSON)
    /// It is not stored. What is here of it goes as if it had left the query, unless changes of it wait.
    case drop(reason: String)
}

/// Rows of the server's that are about to be stored, in the order in which they came.
public struct PulledPage: Sendable, Hashable {
    /// The table.
    public var table: String
    /// The name of the query; nil for a pull without one.
    public var queryName: String?
    /// The rows, with what hooks before this one have changed. Those that an earlier hook dropped, and those that
    /// cannot be stored anyway, are not among them.
    public var rows: [PulledRow]

    package init(table: String, queryName: String? = nil, rows: [PulledRow]) {
        self.table = table
        self.queryName = queryName
        self.rows = rows
    }
}

/// What a hook decides about an operation before it is sent.
public enum BeforePushDecision: Sendable, Hashable {
    /// It is sent, if the hooks after this one send it too.
    case send
    /// It waits for the next push, with that reason. What stands after it on the record waits too, other records do
    /// not.
    case skip(reason: String)
    /// It waits for so long, with that reason; pushes until then pass it by without asking. Longer than 30 days is 30
    /// days.
    case `defer`(Duration, reason: String)
    /// It becomes an operation of that kind, with that whole record or the one it has, as by
    /// ``SyncQueue/changeKind(_:to:record:revision:)``. The hooks are asked about it again. Where that cannot be, it
    /// stays pending with the reason.
    case changeKind(TableOperation.Kind, JSON?)
}

/// What a hook decides about an operation that did not go through.
///
/// What the queue does not allow, such as a change of kind while other changes of the record wait, is not done: the
/// operation is then kept as it would be without hooks, and its reason says so. Where the push ends for all operations,
/// as without a network, it ends whatever is decided about one.
public enum PushErrorDecision: Sendable, Hashable {
    /// The next hook is asked; after the last one the engine does what it does without hooks.
    case next
    /// It stays pending and is not sent before so long is over; zero tries it again in this push, up to five times. A
    /// failure that counts still counts: at ``SyncOptions/maximumAttempts`` in a row the operation is dead.
    case retry(after: Duration)
    /// It is given up, as by ``SyncQueue/discard(_:revision:goesOnElsewhere:)``: the record is as the server last had
    /// it, and the audit keeps what was given up.
    case cancelAndDiscard
    /// It is given up, and this whole record is what the application sees from now on, until the server's changes. The
    /// audit keeps what was given up. Refused where later changes of the record wait.
    case cancelAndUpdate(JSON)
    /// It becomes an operation of that kind, with that whole record or the one it has, as by
    /// ``SyncQueue/changeKind(_:to:record:revision:)``, and is sent again. An update stays one where only the record is
    /// to be another.
    case changeKind(TableOperation.Kind, JSON?)
    /// It is parked with that reason until someone decides.
    case park(reason: String)
    /// It stays as it would without hooks, and the rest of this push is not done.
    case abort
}

/// Why a hook refuses a local change. It is the ``SluiceError/cause`` of the error that the application gets.
///
/// ```swift
/// do {
///     try await todos.insert(["title": ""])
/// } catch let error as SluiceError where error.code == .refusedByHook {
///     for (field, problem) in error.refusal?.fields ?? [:] { print(field, problem) }
/// }
/// ```
public struct EnqueueRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, as the hook's author names it for programs; nil for none.
    public var code: String?
    /// The reason, for a person.
    public var message: String
    /// What is wrong with single fields, by their names.
    public var fields: [String: String]
    /// Who refuses, among those that a hook asks, such as a plugin; nil for the hook itself.
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

extension SluiceError {
    /// The reason of the hook that refused the change, for an error of code `refusedByHook`.
    public var refusal: EnqueueRefusal? { cause as? EnqueueRefusal }
}
