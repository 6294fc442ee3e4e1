internal import SluiceBase
internal import SluiceWire

/// Writes the decisions of a push. Each commit is one transaction, and first checks that the operation is still the one
/// that was sent.
struct PushCommitter {
    package let columns: PushColumns
    package let environment: SyncEnvironment
    /// The endpoint of the push.
    let server: String

    /// The number of consecutive failures after which an operation is dead.
    package let maximumAttempts: Int
    /// The references by keys assigned by the service.
    let references: [AssignedReference]
    /// The references by ids.
    let idReferences: [AssignedReference]

    package init(
        columns: PushColumns, environment: SyncEnvironment, server: String = "", maximumAttempts: Int = 10,
        references: [AssignedReference] = [], idReferences: [AssignedReference] = []
    ) {
        self.idReferences = idReferences
        self.references = references
        self.columns = columns
        self.environment = environment
        self.server = server
        self.maximumAttempts = maximumAttempts
    }

    /// Freezes the operation's body before its first byte is sent, and gives the request its id.
    ///
    /// A repeat of a revision is sent exactly as the first time, under the same id. If a filter makes a different
    /// request this time, it becomes another revision with another id.
    ///
    /// - Parameter wasUnsent: whether the send before this one is known not to have reached the server.
    /// - Returns: the stored operation and the request to send, or nil if the operation was changed since it was read.
    func seal(
        _ item: PushItem, request: JSON, final: FinalRequest, wasUnsent: Bool = false, in store: any StoreWriter
    ) throws -> (operation: TableOperation, request: SyncRequest)? {
        let queue = QueueWriter(store)
        guard var operation = try current(item, queue) else { return nil }
        // An earlier send ended without a usable answer, in this process or a former one.
        if operation.state == .inFlight, !wasUnsent { operation.doubt() }
        operation.state = .inFlight
        operation.attempts += 1
        try keepBase(of: item, queue)
        if let sent = operation.sent.last(where: { $0.revision == operation.revision }) {
            if let repeated = final.repeating(sent) {
                try queue.put(operation)
                return (operation, sent.identify(repeated, as: operation.requestID))
            }
            operation.revision += 1
        }
        // An undelete by POST has no body; its meaning is that the record is not deleted.
        let isBodiless = operation.kind == .undelete && final.request.body.isEmpty
        let document =
            isBodiless
            ? JSON(members: [(columns.deleted, JSON(false))])
            : final.document(of: request, replacing: columns.replaces && operation.kind == .update)
        var sent = SentBody(
            revision: operation.revision, request: isBodiless ? document : request, final: document,
            local: item.local, firstSent: environment.now(), digest: final.digest)
        sent.isIdentified = operation.sent.allSatisfy(\.isIdentified)
        let state = try queue.reader.state(of: operation.recordID, in: operation.table)
        sent.known = version(state?.mirror)
        operation.sent.append(sent)
        operation.sent.removeFirst(max(0, operation.sent.count - Self.mostSentBodies))
        try queue.put(operation)
        return (operation, sent.identify(final.request, as: operation.requestID))
    }

    /// Keeps the tombstone read before an undelete's first send as the base of each repeat. The mirror is nil, because
    /// the server does not have the record.
    private func keepBase(of item: PushItem, _ queue: QueueWriter) throws {
        let (table, id) = (item.operation.table, item.operation.recordID)
        guard item.operation.kind == .undelete, item.base?[columns.version]?.string != nil else { return }
        let known = try queue.reader.state(of: id, in: table)
        guard known?.base?[columns.version]?.string == nil else { return }
        try queue.put(RecordState(table: table, recordID: id, base: item.base, mirror: nil), isNoted: false)
    }

    /// The number of sent bodies kept as evidence for one operation. If each send has a new body, for example from a
    /// filter that stamps them, a conflict may follow after that many unanswered sends.
    static let mostSentBodies = 16

    /// Writes a commit, or nothing if the operation has changed since.
    @discardableResult
    package func write(_ commit: PushCommit, in store: any StoreWriter) throws -> PushWritten {
        let queue = QueueWriter(store)
        switch commit {
        case .applied(let item, let server):
            guard let (item, operation) = try named(item, by: server, in: store) else { return .done }
            if let server, let state = try doubted(operation, answered: server, queue) {
                return .doubtful(newest: state.mirror)
            }
            try apply(operation, item, server: server, store, queue)
        case .confirmed(let item, let server, let confirmation):
            guard let (item, operation) = try named(item, by: server, in: store) else { return .done }
            let seen = [confirmation.doubted, confirmation.current].map(version)
            if let state = try doubted(operation, answered: server, queue), !seen.contains(version(state.mirror)) {
                return .doubtful(newest: state.mirror)
            }
            try apply(operation, item, server: server, by: confirmation, store, queue)
        case .found(let item, let server, let sent):
            guard let (item, operation) = try named(item, by: server, in: store) else { return .done }
            if try contest(operation, item, server: server, sent: sent, store, queue) { return .done }
            // The record was read, not remembered, so every record from a pull is older.
            try apply(operation, item, server: server, by: Confirmation(current: server), store, queue)
        case .gone(let item):
            guard let operation = try current(item, queue) else { return .done }
            if operation.kind != .delete {
                try queue.audit(operation, AuditEntry.unseen, local: item.local, at: environment.now())
            }
            try apply(operation, item, server: nil, by: Confirmation(current: nil), store, queue)
            try UnansweredSend.leave(after: operation, known: item.base, columns: columns, in: store)
        case .rebased(let item, let server, let sent):
            guard let (item, operation) = try named(item, by: server, in: store) else { return .done }
            try rebase(operation, item, server: server, sent: sent, store, queue)
        case .unidentified(let item):
            guard var operation = try current(item, queue) else { return .done }
            for index in operation.sent.indices { operation.sent[index].isIdentified = false }
            // The operation may have been applied longer ago than the server remembers.
            try sendAnew(&operation, queue)
        case .renewed(let item):
            guard var operation = try current(item, queue) else { return .done }
            try sendAnew(&operation, queue)
        case .unneeded(let item):
            guard let operation = try current(item, queue) else { return .done }
            try end(operation, queue)
        case .kept(let item, let state, let failure, let uncertain):
            guard let operation = try current(item, queue) else { return .done }
            var failed = operation
            var failure = failure
            failure?.request = item.request
            failed.fail(failure, state, reachedServer: uncertain, maximum: maximumAttempts)
            if uncertain { failed.doubt() }
            try queue.put(failed)
        case .held(let item, let state, let failure, let conflict):
            guard let (item, operation) = try named(item, by: conflict.server, in: store) else { return .done }
            var held = operation
            (held.state, held.failure) = (state, failure)
            held.failure?.request = item.request
            // A refusal by the record proves that the send was not applied before and the answer is no replay. One for another
            // reason, as a wire may report of an insert, may come before the server looks for an earlier send; and an earlier
            // send may have deleted a record that is not there.
            if operation.kind != .insert, conflict.status == 409 || conflict.status == 412,
                let last = held.sent.indices.last
            {
                held.sent[last].known = version(conflict.server)
            }
            if conflict.status < 300 { held.doubt() }
            // The refusal of an equal edit is certain, and no evidence for the next one.
            held.isUncertain = held.isUncertain || conflict.maybeApplied && !conflict.isEqualEdit
            try queue.put(held)
            try moveMirror(of: operation, to: conflict.isDeletedOnServer ? nil : conflict.server, queue)
            try noteReplaced([item.base], by: conflict.server, operation, store)
        case .decided(let item, let conflict, let decision):
            guard let (item, operation) = try named(item, by: conflict.server, in: store) else { return .done }
            try ConflictSettlement(
                operation: operation, item: item, conflict: conflict, columns: columns, environment: environment,
                store: store, queue: queue
            ).settle(decision)
            try noteReplaced([item.base], by: conflict.server, operation, store)
            if let server = conflict.server { try follow(operation, server, store, queue) }
        case .hooked(let item, let commit):
            guard let operation = try current(item, queue) else { return .done }
            try write(commit, operation, item, store, queue)
        }
        return .done
    }

    /// Whether the operation is unchanged since it was read.
    func isCurrent(_ item: PushItem, _ queue: QueueWriter) throws -> Bool { try current(item, queue) != nil }

    /// Returns the stored operation if it is unchanged since it was read, with the doubt about a send of a former process.
    func current(_ item: PushItem, _ queue: QueueWriter) throws -> TableOperation? {
        guard var operation = try queue.reader.operation(item.operation.id),
            operation.revision == item.operation.revision, operation.state == .pending || operation.state == .inFlight
        else { return nil }
        if item.operation.isUncertain, !operation.isUncertain { operation.doubt() }
        return operation
    }

    /// Prepares the operation for sending under another id with the same content, because the record may have changed
    /// since.
    private func sendAnew(_ operation: inout TableOperation, _ queue: QueueWriter) throws {
        // The frozen record of an undelete is the one that the application saw when editing the restored record.
        if operation.kind != .undelete { operation.frozen = operation.sentAsIs?.local }
        operation.doubt()
        operation.revision += 1
        operation.state = .pending
        try queue.put(operation)
    }

    /// Ends an update that changes nothing: the record becomes the newest one from a pull.
    private func end(_ operation: TableOperation, _ queue: QueueWriter) throws {
        let (table, id) = (operation.table, operation.recordID)
        try queue.remove(operation)
        guard try queue.reader.all(on: id, in: table).isEmpty else { return }
        if let state = try queue.reader.state(of: id, in: table) { try queue.setLocal(state.mirror, id, in: table) }
        try queue.removeState(of: id, in: table)
    }

    private func moveMirror(of operation: TableOperation, to server: JSON?, _ queue: QueueWriter) throws {
        var state =
            try queue.reader.state(of: operation.recordID, in: operation.table)
            ?? RecordState(table: operation.table, recordID: operation.recordID, base: nil, mirror: nil)
        state.mirror = server
        try queue.put(state)
    }

    private func apply(
        _ operation: TableOperation, _ item: PushItem, server: JSON?, by confirmation: Confirmation? = nil,
        _ store: any StoreWriter, _ queue: QueueWriter
    ) throws {
        let (table, id) = (operation.table, operation.recordID)
        try noteAnswer(operation, item, queue)
        try queue.remove(operation)
        let successors = try queue.reader.all(on: id, in: table)
        let isLast = successors.isEmpty
        // The record exists on the server, so a pending send for an earlier record with this id can be forgotten.
        if server != nil { try UnansweredSend.remove(id, in: table, from: store) }
        let state = try queue.reader.state(of: id, in: table)
        let isOld =
            confirmation.map { version($0.current) != version(server) }
            ?? replay(operation).isOlder(server, than: state)
        let newest = confirmation.map(\.current) ?? state?.mirror
        if !isOld { try noteReplaced([item.base, state?.mirror], by: server, operation, store) }
        if isOld, isLast {
            try queue.setLocal(newest, id, in: table)
        } else if let server {
            var sent =
                operation.sent.last { $0.revision == operation.revision }
                ?? SentBody(revision: 0, request: .object, final: .object, local: item.local)
            // The edits were made on the record that the application saw, not on the tombstone that was sent.
            if operation.kind == .undelete, let seen = operation.frozen { sent.local = seen }
            // An undelete restores the server's row; edits of it are separate operations.
            if operation.kind == .undelete, isLast {
                try queue.setLocal(server, id, in: table)
            } else {
                try rebaseEdits(successors, after: operation, onto: server, sent, store, queue)
            }
        } else if isLast {
            try queue.setLocal(nil, id, in: table)
        }
        if isLast {
            try queue.removeState(of: id, in: table)
        } else {
            let mirror = isOld ? newest : server
            try queue.put(RecordState(table: table, recordID: id, base: server, mirror: mirror))
        }
        if let server { try follow(operation, server, store, queue) }
    }

    /// Updates references to a new record to the key assigned by the service.
    private func follow(
        _ operation: TableOperation, _ server: JSON, _ store: any StoreWriter, _ queue: QueueWriter
    ) throws {
        guard operation.kind == .insert, !references.isEmpty else { return }
        try AssignedKeys(references: references, store: store, queue: queue)
            .follow(operation.recordID, in: operation.table, as: server)
    }

    /// Notes the versions replaced by the operation, because a replica of the server's database may still show them.
    private func noteReplaced(
        _ former: [JSON?], by server: JSON?, _ operation: TableOperation, _ store: any StoreWriter
    ) throws {
        var versions: [String] = []
        for known in former.compactMap(version) where known != version(server) && !versions.contains(known) {
            versions.append(known)
        }
        try ReplacedVersions.note(
            versions, of: operation.recordID, in: operation.table, on: self.server, at: environment.now(), store)
    }

    /// Writes to the audit if the server's answer came from a plugin, or lacks values that were sent.
    private func noteAnswer(_ operation: TableOperation, _ item: PushItem, _ queue: QueueWriter) throws {
        if !item.dropped.isEmpty {
            let names = item.dropped.map(\.text).joined(separator: ", ")
            try queue.audit(operation, AuditEntry.dropped + names, local: item.local, at: environment.now())
        }
        guard let witnesses = item.witnesses else { return }
        try queue.audit(operation, witnesses, local: item.local, at: environment.now())
    }

    /// Returns the record's state, if the answer may be older than it; otherwise nil.
    private func doubted(
        _ operation: TableOperation, answered server: JSON, _ queue: QueueWriter
    ) throws -> RecordState? {
        let answer = replay(operation)
        guard answer.mayBeOld, let state = try queue.reader.state(of: operation.recordID, in: operation.table) else {
            return nil
        }
        return answer.isDoubtful(server, beside: state) ? state : nil
    }

    private func replay(_ operation: TableOperation) -> ReplayedAnswer {
        ReplayedAnswer(operation: operation, columns: columns)
    }

    private func version(_ record: JSON?) -> String? { record?[columns.version]?.string }

    /// Keeps the base of edits made after a send if others have changed the same properties: the server then refuses
    /// them, and the conflict is shown.
    ///
    /// - Returns: whether others have; the operation is then removed from the queue.
    private func contest(
        _ operation: TableOperation, _ item: PushItem, server: JSON, sent: SentBody?, _ store: any StoreWriter,
        _ queue: QueueWriter
    ) throws -> Bool {
        let (table, id) = (operation.table, operation.recordID)
        let successors = try queue.reader.all(on: id, in: table).filter { $0.id != operation.id }
        guard var next = successors.first else { return false }
        let before = sent?.local ?? operation.frozen
        let foreign = ForeignChanges(
            of: server, since: item.made(by: sent, columns), base: item.base, isNew: item.operation.kind == .insert,
            in: item.operation.table, columns: columns)
        guard foreign.collide(with: successors, from: before, to: try store.record(id, in: table)) else { return false }
        try noteAnswer(operation, item, queue)
        try queue.remove(operation)
        // Part of the application's current record is on the server.
        next.isUncertain = true
        try queue.put(next)
        try queue.put(RecordState(table: table, recordID: id, base: item.base, mirror: server))
        return true
    }

    /// Rebases the operation onto its earlier revision, which the server has: the difference remains to be sent.
    private func rebase(
        _ operation: TableOperation, _ item: PushItem, server: JSON, sent: SentBody, _ store: any StoreWriter,
        _ queue: QueueWriter
    ) throws {
        let (table, id) = (operation.table, operation.recordID)
        var successors = try queue.reader.all(on: id, in: table).filter { $0.id != operation.id }
        // A delete followed by a new record has to be sent.
        let isReplaced = successors.first?.kind == .insert
        // Its successors send the whole difference: an edit is in the local record, a delete needs no edit.
        let isAbsorbed = successors.first.map { !isReplaced && operation.mayTake($0) }
        if isAbsorbed == true {
            if successors[0].kind == .delete, operation.kind.hasBody {
                // The delete replaces the unsent edit.
                try queue.noteFolded(operation, making: item.local, at: environment.now())
                successors[0].frozen = item.local
                try queue.put(successors[0])
            }
            if try contest(operation, item, server: server, sent: sent, store, queue) { return }
        }
        try noteAnswer(operation, item, queue)
        if isAbsorbed == false, !isReplaced {
            let foreign = ForeignChanges(
                of: server, since: item.made(by: sent, columns), base: item.base, isNew: item.operation.kind == .insert,
                in: item.operation.table, columns: columns)
            if foreign.collide(with: successors, from: sent.local, to: try store.record(id, in: table)) {
                // Repeated on the old base: the server refuses it, and the conflict is shown. Its content is frozen,
                // because later operations have changed the record.
                var repeated = forgettingSends(operation)
                repeated.frozen = operation.kind == .undelete ? operation.frozen : item.local
                try queue.put(repeated)
                return try queue.put(RecordState(table: table, recordID: id, base: item.base, mirror: server))
            }
        }
        try UnansweredSend.remove(id, in: table, from: store)
        try queue.put(RecordState(table: table, recordID: id, base: server, mirror: server))
        try noteReplaced([item.base], by: server, operation, store)
        try rebaseEdits(successors, after: operation, onto: server, sent, store, queue)
        try follow(operation, server, store, queue)
        if isAbsorbed == true { return try queue.remove(operation) }
        var operation = forgettingSends(operation)
        operation.kind = operation.kind == .insert ? .update : operation.kind
        if !successors.isEmpty {
            operation.frozen = Rebase.record(server: server, local: item.local, sent: sent, system: columns.system)
        }
        try queue.put(operation)
    }

    /// Returns the rest of an operation after an earlier revision was applied.
    private func forgettingSends(_ operation: TableOperation) -> TableOperation {
        var operation = operation
        operation.revise()
        operation.sent = []
        operation.isUncertain = false
        operation.overruled = nil
        return operation
    }

    /// Rebases the edits made after a send onto the server's record. A new record after a delete is not based on it.
    private func rebaseEdits(
        _ successors: [TableOperation], after operation: TableOperation, onto server: JSON, _ sent: SentBody,
        _ store: any StoreWriter, _ queue: QueueWriter
    ) throws {
        let (table, id) = (operation.table, operation.recordID)
        let isReplaced = successors.contains { $0.kind == .insert }
        let before = operation.kind == .delete ? [] : successors.prefix { $0.kind != .delete }
        try queue.rebase(isReplaced ? Array(before) : successors, onto: server, sent: sent, system: columns.system)
        if isReplaced { return }
        let local = try store.record(id, in: table)
        let rebased = Rebase.record(server: server, local: local, sent: sent, system: columns.system)
        try queue.setLocal(rebased, id, in: table)
    }
}
