internal import SluiceCore
internal import Synchronization

/// The checker: it knows all events on the server and in every store, and reports the first broken invariant.
///
/// It is told of each committed transaction of a store and of each effect on the server. It checks only the records
/// that these touched, so a check after every step is cheap.
final class SimulationOracle: Sendable {
    private let state: Mutex<OracleState>

    init(_ setting: SimulationSetting, columns: PushColumns, hasFilters: Bool, forgetsDeleted: Bool) {
        state = Mutex(
            OracleState(
                devices: setting.devices, columns: columns, hasFilters: hasFilters, fields: setting.fields,
                forgetsDeleted: forgetsDeleted, mayChangeValues: setting.traits.contains(.keepsTexts),
                tidiesPages: setting.tidiesPages, keepsAuthors: setting.traits.contains(.keepsAuthors),
                hasReplicas: setting.faults[.staleRead] != nil, adopts: setting.adopts, ids: setting.ids))
    }

    /// The first invariant that did not hold.
    var violation: SimulationViolation? { state.withLock { $0.violation } }

    func violate(_ invariant: SimulationInvariant, _ message: String) {
        state.withLock { $0.violate(invariant, message) }
    }

    /// Returns a value that no record has had before.
    func newValue() -> Int64 {
        state.withLock {
            $0.lastValue += 1
            return $0.lastValue
        }
    }

    /// Notes that the application is about to make an edit.
    func begin(_ edit: SimulatedEdit, on device: Int) {
        let key = edit.key
        state.withLock { state in
            state.devices[device].editing[key, default: 0] += 1
            for (field, value) in edit.fields {
                state.offer(FieldValue(key: key, field: field, value: value), on: device)
            }
        }
    }

    /// Notes that an edit of the record has ended, successfully or not.
    func end(_ key: RecordKey, on device: Int) { state.withLock { $0.endEdit(of: key, on: device) } }

    /// Notes that one copy of a request was carried out, and the device got the refusal of the other one without a
    /// record: nobody can tell that from a refusal of the only one.
    func refusedAsCopy(_ request: String) { state.withLock { _ = $0.refusedAsCopies.insert(request) } }

    /// Notes that a conflict handler or an operator has decided the conflict of an operation, with the device's record.
    func decided(
        _ operation: String, of key: RecordKey, _ client: JSON?, _ decision: ConflictDecision, on device: Int
    ) {
        state.withLock { $0.decided(operation, of: key, client, decision, on: device) }
    }

    /// Notes that the operations of a record are about to move to another device's queue.
    func moves(_ operations: [String], of key: RecordKey, from device: Int, to other: Int) {
        state.withLock { $0.moves(operations, of: key, from: device, to: other) }
    }

    /// Notes that the operations have moved, and were discarded here.
    func moved(_ key: RecordKey, from device: Int, to other: Int) {
        state.withLock { $0.moved(key, from: device, to: other) }
    }

    /// Notes that the application has had the rows in an old SDK's store.
    func hadBefore(_ rows: [JSON], in table: String, on device: Int) {
        state.withLock { state in
            for row in rows {
                guard let id = row["id"]?.textID else { continue }
                let key = RecordKey(table: table, id: state.ids.known(id))
                for field in SimulatedFields.all {
                    guard let value = state.fields.value(field, of: row) else { continue }
                    state.devices[device].shown.insert(FieldValue(key: key, field: field, value: value))
                }
            }
        }
    }

    /// Notes that the server's rows are those of a backup.
    func restored(_ tables: [String: [RecordID: SimulatedRow]], at version: Int) {
        state.withLock { $0.restored(tables, at: version) }
    }

    /// Notes that a conflict is shown to the application.
    func met(_ conflict: Conflict, on device: Int) { state.withLock { $0.met(conflict, on: device) } }

    /// Notes that a device sends the request of an operation.
    func sent(_ request: String, _ text: String, by device: Int) {
        state.withLock { $0.sent(request, text, by: device) }
    }

    /// Notes an answer which proves that the request did nothing.
    func refused(_ request: String, by device: Int) { state.withLock { $0.refused(request, by: device) } }

    /// Notes a committed transaction of a device's store, which acknowledges the application's edits in it.
    func committed(_ transaction: SimulatedTransaction, on device: Int) {
        state.withLock { $0.committed(transaction, on: device) }
    }

    func effect(_ change: SimulatedChange, before: SimulatedRow?, after: SimulatedRow) {
        state.withLock { $0.effect(change, before: before, after: after) }
    }

    /// Notes that all effects of a request have been reported.
    func requestEnded() { state.withLock { $0.checkGroups() } }

    /// Notes that the server has removed a row permanently.
    func forgot(_ key: RecordKey) { state.withLock { $0.forgot(key) } }

    /// Returns the user of a process that starts. It is the former user while data of that one is left, unless the
    /// device is handed over.
    func begins(as user: Int, on device: Int, isHandedOver: Bool) -> Int {
        state.withLock { state in
            state.forgetProofs(of: device)
            if isHandedOver || state.devices[device].isEmpty { state.devices[device].user = user }
            return state.devices[device].user
        }
    }

    func clockWentBack() { state.withLock { $0.clockSteps += 1 } }

    /// Reads a device's data as the checker knows them.
    func view<Result: Sendable>(of device: Int, _ body: @Sendable (DeviceView) -> Result) -> Result {
        state.withLock { body($0.devices[device]) }
    }

    /// Notes that a pull has succeeded.
    func pulled(_ rows: [SimulatedRow], of table: String, named: Bool, on device: Int) {
        state.withLock { $0.pulled(rows, of: table, named: named, on: device) }
    }

    /// Checks every claim that is still open.
    func finish() { state.withLock { $0.finish() } }
}

/// A record of a table.
struct RecordKey: Hashable, Sendable, CustomStringConvertible {
    let table: String
    let id: RecordID
    var description: String { "\(table)/\(id)" }
}

/// A value that a property of a record has or had. Each value is written only once.
struct FieldValue: Hashable, Sendable {
    let key: RecordKey
    let field: String
    let value: Int64
}

/// An edit by an application.
struct SimulatedEdit: Sendable {
    let key: RecordKey
    let kind: SimulationAction.Kind
    let fields: [String: Int64]
    /// The new value of the local-only column.
    var memo: Int64?
    /// The operation whose body was edited; nil where the record was changed.
    var operation: String?
}
