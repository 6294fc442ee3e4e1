import SluiceCore
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// A hook made of closures; it wants the points for which it has one.
struct TestHook: SyncHook {
    var hookName = "test"
    var table: String?
    var enqueue: (@Sendable (EnqueuedChange) async throws -> EnqueueDecision)?
    var push: (@Sendable (TableOperation, JSON?) async throws -> BeforePushDecision)?
    var error: (@Sendable (PushResult.Failure) async throws -> PushErrorDecision)?
    var pull: (@Sendable (PulledPage) async throws -> [PulledRow.Decision])?

    func wants(_ point: HookPoint, table: String) -> Bool {
        guard self.table == nil || self.table == table else { return false }
        return switch point {
        case .beforeEnqueue: enqueue != nil
        case .beforePush: push != nil
        case .onPushError: error != nil
        case .afterPull: pull != nil
        }
    }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        try await enqueue?(change) ?? .accept
    }
    func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision {
        try await push?(operation, record) ?? .send
    }
    func onPushError(_ failure: PushResult.Failure) async throws -> PushErrorDecision {
        try await error?(failure) ?? .next
    }
    func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
        try await pull?(page) ?? page.rows.map { _ in .keep }
    }
}

/// What a hook of a test throws.
struct HookMishap: Error {}

/// Something that closures of a test share.
final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        state.withLock { value in body(&value) }
    }
}

extension Device {
    /// A device with hooks.
    init(
        _ kind: StoreKind, hooks: [any SyncHook], server: ModelServer = ModelServer(),
        handlers: [any ConflictHandler] = [], batchSize: Int = 1, maximumAttempts: Int = 10,
        store: (any LocalStore)? = nil, adjust: (inout SyncOptions) -> Void = { _ in }
    ) async throws {
        try await self.init(
            kind, server: server, handlers: handlers, store: store, maximumAttempts: maximumAttempts,
            batchSize: batchSize
        ) {
            $0.hooks = hooks
            adjust(&$0)
        }
    }

    /// The operation on that record.
    func operation(_ id: String) async throws -> TableOperation? {
        try await context.queue.operations(TableOperation.Filter(recordID: RecordID(id))).first
    }
}
