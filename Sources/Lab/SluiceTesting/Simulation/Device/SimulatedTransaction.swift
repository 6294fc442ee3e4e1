internal import SluiceCore
internal import Synchronization

/// The changes of a transaction, and the application's edits in it.
struct SimulatedTransaction: Sendable {
    let changes: [StoreChange]
    let edits: [SimulatedEdit]
    private let maker: EditsInHand?

    /// Creates the transaction of the current task when it is about to be committed.
    init(_ changes: [StoreChange]) {
        self.changes = changes
        maker = EditsInHand.current
        edits = (maker?.edits ?? []).filter { edit in
            changes.contains { $0.table == edit.key.table && $0.id == edit.key.id || $0.isOperation(on: edit.key) }
        }
    }

    /// Tells the task of the edits that they are committed, even if the store then throws.
    func acknowledge() {
        if !edits.isEmpty { maker?.commit() }
    }
}

/// The edits that a task of the application is making. Their transaction names them, so that edits are noted in the
/// order of commits. Edits made at the same moment need not return in that order.
final class EditsInHand: Sendable {
    @TaskLocal static var current: EditsInHand?

    private let state: Mutex<(edits: [SimulatedEdit], isCommitted: Bool)>

    init(_ edits: [SimulatedEdit] = []) { state = Mutex((edits, false)) }

    var edits: [SimulatedEdit] {
        get { state.withLock { $0.edits } }
        set { state.withLock { $0.edits = newValue } }
    }

    /// Whether the edits were committed.
    var isCommitted: Bool { state.withLock { $0.isCommitted } }

    func commit() { state.withLock { $0.isCommitted = true } }
}

extension StoreChange {
    /// Whether the change is to an operation on that record.
    fileprivate func isOperation(on key: RecordKey) -> Bool {
        guard table == TableOperation.schema.name, let record else { return false }
        return record["table"]?.string == key.table && record["record"]?.textID == key.id
    }
}
