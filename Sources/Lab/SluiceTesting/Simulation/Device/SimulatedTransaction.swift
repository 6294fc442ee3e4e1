internal import SluiceCore
internal import Synchronization

/// What a transaction did, and the edits of the application that it holds.
struct SimulatedTransaction: Sendable {
    let changes: [StoreChange]
    let edits: [SimulatedEdit]
    private let maker: EditsInHand?

    /// A transaction of the current task that is about to be committed.
    init(_ changes: [StoreChange]) {
        self.changes = changes
        maker = EditsInHand.current
        edits = (maker?.edits ?? []).filter { edit in
            changes.contains { $0.table == edit.key.table && $0.id == edit.key.id || $0.isOperation(on: edit.key) }
        }
    }

    /// Tells the task that made the edits that they are committed, whatever it hears from the store.
    func acknowledge() {
        if !edits.isEmpty { maker?.commit() }
    }
}

/// The edits that a task of the application is making: their transaction says that it holds them, so that they are
/// noted in the order of commits, in which edits of one moment need not return.
final class EditsInHand: Sendable {
    @TaskLocal static var current: EditsInHand?

    private let state: Mutex<(edits: [SimulatedEdit], isCommitted: Bool)>

    init(_ edits: [SimulatedEdit] = []) { state = Mutex((edits, false)) }

    var edits: [SimulatedEdit] {
        get { state.withLock { $0.edits } }
        set { state.withLock { $0.edits = newValue } }
    }

    /// Whether they were committed.
    var isCommitted: Bool { state.withLock { $0.isCommitted } }

    func commit() { state.withLock { $0.isCommitted = true } }
}

extension StoreChange {
    /// Whether it is of an operation on that record.
    fileprivate func isOperation(on key: RecordKey) -> Bool {
        guard table == TableOperation.schema.name, let record else { return false }
        return record["table"]?.string == key.table && record["record"]?.textID == key.id
    }
}
