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
