internal import SluiceCore
internal import Synchronization

/// Knows everything that happened, on the server and in every store, and says when an invariant does not hold.
///
/// It is told of each transaction that a store has committed and of each effect on the server, and checks what that
/// touched; so a check after every step stays cheap.
final class SimulationOracle: Sendable {
    private let state: Mutex<OracleState>

    init(_ setting: SimulationSetting, columns: PushColumns, hasFilters: Bool, forgetsDeleted: Bool) {
        state = Mutex(
            OracleState(
                devices: setting.devices, columns: columns, hasFilters: hasFilters, fields: setting.fields,
                forgetsDeleted: forgetsDeleted, mayChangeValues: setting.habits.contains(.keepsTexts),
                tidiesPages: setting.tidiesPages, keepsAuthors: setting.habits.contains(.keepsAuthors),
                hasReplicas: setting.faults[.staleRead] != nil, ids: setting.ids))
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

    /// A conflict handler, or somebody from outside, has decided the conflict of an operation, for which the device has
    /// that record.
    func decided(
        _ operation: String, of key: RecordKey, _ client: JSON?, _ decision: ConflictDecision, on device: Int
    ) {
        state.withLock { $0.decided(operation, of: key, client, decision, on: device) }
    }

    /// What waits for a record is about to go on in another device's queue.
    func moves(_ operations: [String], of key: RecordKey, from device: Int, to other: Int) {
        state.withLock { $0.moves(operations, of: key, from: device, to: other) }
    }

    /// It does so, and has been given up in this one.
    func moved(_ key: RecordKey, from device: Int, to other: Int) {
        state.withLock { $0.moved(key, from: device, to: other) }
    }

    /// The server's rows are those of a backup.
    func restored(_ tables: [String: [RecordID: SimulatedRow]], at version: Int) {
        state.withLock { $0.restored(tables, at: version) }
    }

    /// A conflict is shown to the application.
    func met(_ conflict: Conflict, on device: Int) { state.withLock { $0.met(conflict, on: device) } }

    /// A device sends a request of an operation.
    func sent(_ request: String, _ text: String, by device: Int) {
        state.withLock { $0.sent(request, text, by: device) }
    }

    /// It was answered so that nothing can have been done.
    func refused(_ request: String, by device: Int) { state.withLock { $0.refused(request, by: device) } }

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

    /// A process begins, for a user. It is the one before while something of that one is still there, unless that is
    /// handed over.
    func begins(as user: Int, on device: Int, isHandedOver: Bool) -> Int {
        state.withLock { state in
            state.forgetProofs(of: device)
            if isHandedOver || state.devices[device].isEmpty { state.devices[device].user = user }
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
    let id: RecordID
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
    /// The operation that it gave another body; nil where it changed the record.
    var operation: String?
}
