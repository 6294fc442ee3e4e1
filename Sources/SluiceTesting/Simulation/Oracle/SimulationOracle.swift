internal import SluiceCore
internal import Synchronization

/// Knows everything that happened, on the server and in every store, and says when an invariant does not hold.
///
/// It is told of each transaction that a store has committed and of each effect on the server, and checks what that
/// touched; so a check after every step stays cheap.
final class SimulationOracle: Sendable {
    private let state: Mutex<OracleState>

    init(devices: Int, columns: PushColumns, hasFilters: Bool) {
        state = Mutex(OracleState(devices: devices, columns: columns, hasFilters: hasFilters))
    }

    /// The first invariant that did not hold.
    var violation: SimulationViolation? { state.withLock { $0.violation } }

    func violate(_ invariant: SimulationInvariant, _ message: String) {
        state.withLock { $0.violate(invariant, message) }
    }

    /// A value that no record has had before.
    func newValue() -> Int64 {
        state.withLock {
            $0.lastValue += 1
            return $0.lastValue
        }
    }

    /// The application is about to make an edit.
    func begin(_ edit: SimulatedEdit, on device: Int) {
        let key = edit.key
        state.withLock { state in
            state.devices[device].editing[key, default: 0] += 1
            for (field, value) in edit.fields {
                state.offer(FieldValue(key: key, field: field, value: value), on: device)
            }
        }
    }

    /// The edit of that record is over, whatever came of it.
    func end(_ key: RecordKey, on device: Int) { state.withLock { $0.endEdit(of: key, on: device) } }

    /// The operations on a record, in their order.
    func operations(on key: RecordKey, of device: Int) -> [OperationView] {
        state.withLock { $0.devices[device].operations(on: key) }
    }

    /// Whether something that was sent for the operation has taken effect.
    func hasEffect(_ operation: String) -> Bool { state.withLock { $0.effective.contains(operation) } }

    /// A conflict handler has decided.
    func decided(_ conflict: Conflict, _ decision: ConflictDecision, on device: Int) {
        state.withLock { $0.decided(conflict, decision, on: device) }
    }

    /// A conflict is shown to the application.
    func met(_ conflict: Conflict, on device: Int) { state.withLock { $0.met(conflict, on: device) } }

    /// A device sends a request of an operation.
    func sent(_ request: String, _ text: String, by device: Int) {
        state.withLock { $0.sent(request, text, by: device) }
    }

    /// A transaction of a device's store is committed: the edits of the application that it holds are acknowledged.
    func committed(_ transaction: SimulatedTransaction, on device: Int) {
        state.withLock { $0.committed(transaction, on: device) }
    }

    func effect(_ change: SimulatedChange, before: SimulatedRow?, after: SimulatedRow) {
        state.withLock { $0.effect(change, before: before, after: after) }
    }

    /// All effects of a request have been told.
    func requestEnded() { state.withLock { $0.checkGroups() } }

    /// The server has forgotten a row, for good.
    func forgot(_ key: RecordKey) { state.withLock { $0.forgot(key) } }

    /// A process begins, for a user. It is the one before while something of that one is still there.
    func begins(as user: Int, on device: Int) -> Int {
        state.withLock { state in
            if state.devices[device].isEmpty { state.devices[device].user = user }
            return state.devices[device].user
        }
    }

    func clockWentBack() { state.withLock { $0.clockSteps += 1 } }

    /// Looks at a device's copy of the store.
    func view<Result: Sendable>(of device: Int, _ body: @Sendable (DeviceView) -> Result) -> Result {
        state.withLock { body($0.devices[device]) }
    }

    /// A pull has ended well.
    func pulled(_ rows: [SimulatedRow], of table: String, named: Bool, on device: Int) {
        state.withLock { $0.pulled(rows, of: table, named: named, on: device) }
    }

    /// Looks at every write that is still to be accounted for.
    func finish() { state.withLock { $0.finish() } }
}

/// A record of a table.
struct RecordKey: Hashable, Sendable, CustomStringConvertible {
    let table: String
    let id: String
    var description: String { "\(table)/\(id)" }
}

/// A value that a property of a record has or had. Each is written once only.
struct FieldValue: Hashable, Sendable {
    let key: RecordKey
    let field: String
    let value: Int64
}

/// An edit that an application made.
struct SimulatedEdit: Sendable {
    let key: RecordKey
    let kind: SimulationAction.Kind
    let fields: [String: Int64]
    /// What it wrote that stays on the device.
    var memo: Int64?
}
