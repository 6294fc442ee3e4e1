internal import SluiceCore

extension OracleState {
    /// Whether a deletion about to be committed may only undo writes that the server has not received.
    func takesBack(_ edit: SimulatedEdit, on device: Int) -> Bool {
        let before = devices[device].operations(on: edit.key)
        // Edits after a refused insert become part of it.
        let ends = [before.first, before.last].compactMap { $0?.kind }
        guard edit.kind == .delete, ends.contains("insert") || ends.contains("undelete") else { return false }
        return leavesDeleted(edit.key, on: device)
            || before.allSatisfy { effective.isDisjoint(with: heritages[$0.id] ?? []) }
    }

    /// Whether the server's record has none of the sent values. A service's record is read after the refusal, and
    /// others may have changed all of it since.
    private func isReplaced(in conflict: Conflict) -> Bool {
        SimulatedFields.all.allSatisfy { field in
            guard let sent = fields.value(field, of: conflict.client) else { return true }
            return sent == fields.value(field, of: conflict.base) || sent != fields.value(field, of: conflict.server)
        }
    }

    /// Whether the device's last change on the server was to delete the record, and the device knows of no later
    /// undelete.
    private func leavesDeleted(_ key: RecordKey, on device: Int) -> Bool {
        let state = devices[device].tables[RecordState.schema.name]?[RecordState.id(key.table, key.id)]
        return deletedLast.contains(DeviceRecord(device: device, key: key)) && state?["mirror"]?.isNull ?? true
    }

    /// Checks I1: a committed write becomes a claim, and ends the claims that it supersedes.
    mutating func note(_ edit: SimulatedEdit, takesBack: Bool, on device: Int) {
        moment += 1
        // The edit of an operation shows only when it is sent, if later operations follow it.
        if let operation = edit.operation, devices[device].operations(on: edit.key).last?.id != operation { return }
        var claims = devices[device].claims[edit.key] ?? []
        switch edit.kind {
        case .delete:
            let isSilent = takesBack && devices[device].operations[edit.key] == nil
            claims = claims.compactMap(\.whenDeleted)
            if !isSilent { claims.append(.deletion(deletion(of: edit.key, on: device))) }
        case .undelete:
            takeBackDeletion(of: edit.key, on: device)
            return
        default:
            claims.removeAll { claim in
                switch claim {
                case .deletion, .deleted: true
                case .value(let field, _): edit.fields[field] != nil
                }
            }
            claims += edit.fields.sorted { $0.key < $1.key }.map { .value(field: $0.key, $0.value) }
        }
        devices[device].claims[edit.key] = claims.isEmpty ? nil : claims
    }

    /// Takes a deletion back: the values written before it are claims again, unless the server has deleted the record.
    mutating func takeBackDeletion(of key: RecordKey, on device: Int) {
        let claims = devices[device].claims[key] ?? []
        let isDone = claims.contains { claim in
            if case .deletion(let since) = claim { wasAbsent(key, since: since) } else { false }
        }
        let left = claims.compactMap { claim -> OracleClaim? in
            switch claim {
            case .deletion: nil
            case .deleted(let field, let value): isDone ? nil : .value(field: field, value)
            case .value: claim
            }
        }
        devices[device].claims[key] = left.isEmpty ? nil : left
    }

    /// Returns the moment from which a deletion counts. If it undid an insert after a queued delete, the moment of that
    /// earlier delete counts. If an operation of the record was under way, its seal counts: an answer to that send may
    /// show that the record was gone before.
    private mutating func deletion(of key: RecordKey, on device: Int) -> Int {
        let operations = devices[device].operations(on: key)
        let moment = operations.filter { $0.state == "inFlight" }.map(\.since).min() ?? moment
        guard let last = operations.last, last.kind == "delete" else { return moment }
        let since = deletions[last.id] ?? moment
        deletions[last.id] = since
        return since
    }

    /// Notes a value from the application or from one of its handlers.
    mutating func offer(_ value: FieldValue, on device: Int) {
        devices[device].offered.insert(value)
        // A handler that decides a conflict may only repeat a value of another user.
        writers[value] = writers[value] ?? devices[device].user
    }

    /// Notes the end of an edit, successful or not.
    mutating func endEdit(of key: RecordKey, on device: Int) {
        let left = (devices[device].editing[key] ?? 1) - 1
        devices[device].editing[key] = left > 0 ? left : nil
    }

    /// Checks I7: an operation does not conflict with itself, and a possible effect of it is reported. Allowed
    /// exceptions are operations after a discarded delete, operations that a decision
    /// about an earlier one has overruled, and conflicts that show an older revision where a later one may have been done.
    mutating func met(_ conflict: Conflict, on device: Int) {
        let operation = conflict.operation
        conflicted.insert(operation.id)
        let key = key(of: conflict)
        // The server has properties of its own in a row, and none of the edits before a delete sent them. The record may
        // be made again before that conflict is decided.
        if forgetsDeleted || keepsAuthors, endsInDelete(operation, of: key, on: device) {
            undecidable.insert(operation.id)
        }
        for field in SimulatedFields.all {
            guard let value = fields.value(field, of: conflict.server) else { continue }
            contested[operation.id, default: []].insert(FieldValue(key: key, field: field, value: value))
        }
        let version = Self.name(conflict.server?[columns.version]?.string ?? "")
        if let author = authors[version].map({ String($0.prefix { $0 != "-" }) }), !conflict.isDeletedOnServer,
            stands(operation.id, after: author),
            operation.record["overruled"] == nil,
            !hasGivenUpDelete(after: author, of: conflict, on: device),
            !mayNotRecognise(operation.id, author),
            !undecidable.contains(operation.id), !mayBePast(authors[version], conflict),
            !(authors[version].map(refusedAsCopies.contains) ?? false),
            !bringsOthers(version, conflict, on: device), !sendsFormerAuthor(conflict, on: device),
            !hidesFields(of: conflict), !hasUnknownBase(conflict)
        {
            violate(
                .atomicity, "device \(device): \(operation.requestID) conflicts with \(author), which it stands after")
        }
        if effects[operation.requestID] != nil, !conflict.maybeApplied, !mayChangeValues,
            !refusedAsCopies.contains(operation.requestID),
            !(forgetsDeleted && isReplaced(in: conflict))
        {
            violate(.atomicity, "device \(device): \(operation.requestID) was done, and its conflict denies it")
        }
        if unproven[DeviceRecord(device: device, key: key)] == 0, conflict.maybeApplied,
            !transferred.contains(operation.id)
        {
            violate(
                .atomicity,
                "device \(device): the conflict of \(operation.requestID) says that it may have been done, "
                    + "and every answer proved that it was not")
        }
    }

    private func key(of conflict: Conflict) -> RecordKey {
        RecordKey(table: conflict.table, id: ids.known(conflict.recordID))
    }

    /// Whether the operation is a delete, or a delete follows it.
    private func endsInDelete(_ operation: TableOperation, of key: RecordKey, on device: Int) -> Bool {
        operation.kind == .delete || devices[device].operations(on: key).contains { $0.kind == "delete" }
    }

    /// Whether the device knows too little of an operation to recognise its effect. An operation from another queue
    /// comes without its sent requests, a backup removes effects that were seen, and a server may change sent values.
    private func mayNotRecognise(_ operation: String, _ author: String) -> Bool {
        transferred.contains(operation) || transferred.contains(author) || hasRestored || mayChangeValues
    }

    /// Whether a later revision than that of the request may have taken effect: then the older revision's values may be
    /// another client's.
    private func mayBePast(_ requestID: String?, _ conflict: Conflict) -> Bool {
        guard let revision = requestID?.split(separator: "-").last.flatMap({ Int($0) }) else { return false }
        let operation = conflict.operation
        // The latest revision was not refused, and no answer proves its outcome.
        let isOpen = (200..<300).contains(conflict.status)
        return operation.sent.contains {
            $0.revision > revision && ($0.mayBeDone || isOpen && $0.revision == operation.revision)
        }
    }

    /// Whether that version restored a deleted row with values unknown to the device. An edit made on the row as it was
    /// before conflicts with those values.
    private func bringsOthers(_ version: String, _ conflict: Conflict, on device: Int) -> Bool {
        let key = key(of: conflict)
        return revivals.contains(version)
            && SimulatedFields.all.contains { field in
                fields.value(field, of: conflict.server).map {
                    !devices[device].offered.contains(FieldValue(key: key, field: field, value: $0))
                } ?? false
            }
    }

    /// Whether the change sends the server's own property from an earlier version, as a decision to send the whole
    /// record does. Then the server's record equals neither the sent record nor its base. A later record that was made
    /// again here takes the property out, which is an edit of it.
    private func sendsFormerAuthor(_ conflict: Conflict, on device: Int) -> Bool {
        keepsAuthors
            && (devices[device].row(key(of: conflict)).map { $0[SimulatedServer.author] == nil } ?? false
                || conflict.client?[SimulatedServer.author] != conflict.base?[SimulatedServer.author]
                || conflict.operation.sent.contains { $0.final[SimulatedServer.author] != nil })
    }

    /// Whether a hook has hidden or changed a field of the server's record, so that the record is not recognised as
    /// unchanged.
    private func hidesFields(of conflict: Conflict) -> Bool {
        guard tidiesPages, let base = conflict.base, let server = conflict.server else { return false }
        let isHidden = SimulatedFields.all.contains {
            fields.value($0, of: server) != nil && fields.value($0, of: base) == nil
        }
        return isHidden || fields.writesTidying(over: server, base)
    }

    /// Whether the base's content is unknown. Then nothing shows the changes of others, and a delete does not follow the
    /// effect of an earlier edit.
    private func hasUnknownBase(_ conflict: Conflict) -> Bool { conflict.base.map(isOfOldStore) ?? false }

    private func stands(_ operation: String?, after author: String) -> Bool {
        operation.flatMap { heritages[$0] }?.contains(author) ?? false
    }

    /// Whether a delete between the two was discarded, or given up for the server's record. The operations after it begin with a record that must be read,
    /// and know nothing of the operations before the delete.
    private func hasGivenUpDelete(after author: String, of conflict: Conflict, on device: Int) -> Bool {
        let key = key(of: conflict)
        return (devices[device].audit[key] ?? []).contains { _, entry in
            ["discard", "undo", "server wins"].contains(entry["what"]) && entry["operation"]?["kind"] == "delete"
                && stands(entry["operation"]?["id"]?.string, after: author)
        }
    }

    mutating func decided(
        _ operation: String, of key: RecordKey, _ client: JSON?, _ decision: ConflictDecision, on device: Int
    ) {
        let result: JSON
        switch decision {
        case .merge(let record), .replace(let record):
            // A value that is not a record of that id decides nothing.
            let id = record["id"].map { $0.textID.map(ids.known) }
            guard record.kind == .object, id == nil || id == key.id else { return }
            result = record
        case .delete:
            deletions[operation] = moment
            result = .null
        case .server, .discard:
            devices[device].shown.formUnion(contested[operation] ?? [])
            return
        default: return
        }
        devices[device].shown.formUnion(contested[operation] ?? [])
        for field in SimulatedFields.all {
            if let value = fields.value(field, of: result) {
                offer(FieldValue(key: key, field: field, value: value), on: device)
            }
            if let value = fields.value(field, of: client), value != fields.value(field, of: result) {
                devices[device].waived.insert(FieldValue(key: key, field: field, value: value))
            }
        }
        if client == nil, decision != .delete { devices[device].waivedDeletes.insert(key) }
    }

    /// Checks the record's claims, and removes those with a known end.
    mutating func checkClaims(of key: RecordKey, on device: Int) {
        guard let claims = devices[device].claims[key] else { return }
        var open = claims.filter { claim in
            switch fate(of: claim, key, on: devices[device]) {
            case .known: return false
            case .underWay: return true
            case .lost:
                violate(.noLostWrite, "device \(device) wrote \(Self.text(claim)) to \(key), and it is nowhere")
                return false
            }
        }
        // A deletion with a known end cannot be taken back.
        if claims.contains(where: \.isDeletion), !open.contains(where: \.isDeletion) {
            open.removeAll { if case .deleted = $0 { true } else { false } }
        }
        devices[device].claims[key] = open.isEmpty ? nil : open
    }

    private static func text(_ claim: OracleClaim) -> String {
        switch claim {
        case .value(let field, let value), .deleted(let field, let value): "\(field) = \(value)"
        case .deletion: "its deletion"
        }
    }

    private enum Fate { case known, underWay, lost }

    private func fate(of claim: OracleClaim, _ key: RecordKey, on device: DeviceView) -> Fate {
        let audit = device.audit[key] ?? []
        let operations = device.operations[key] ?? [:]
        switch claim {
        case .value(let field, let value):
            if held.contains(FieldValue(key: key, field: field, value: value)) { return .known }
            let isGivenUp = gaveUp(FieldValue(key: key, field: field, value: value), on: device)
            if isGivenUp || device.waived.contains(FieldValue(key: key, field: field, value: value)) { return .known }
            let isHere = fields.value(field, of: device.row(key)) == value
            let isSent = operations.values.contains { $0.says(field, value, fields) }
            return !operations.isEmpty && (isHere || isSent) ? .underWay : .lost
        case .deleted: return .underWay
        case .deletion(let moment):
            if wasAbsent(key, since: moment) || device.waivedDeletes.contains(key) { return .known }
            // Discarding an insert also ends the deletion that followed it, because no record is left to delete.
            let isGivenUp = audit.contains {
                $0.moment > moment && $0.entry["operation"]?["kind"] != "update"
                    && $0.entry["what"]?.string != AuditEntry.folded
            }
            if isGivenUp { return .known }
            return operations.isEmpty ? .lost : .underWay
        }
    }

    /// Whether the audit has the value, as part of a discarded operation or of a decision.
    func gaveUp(_ value: FieldValue, on device: DeviceView) -> Bool {
        (device.audit[value.key] ?? []).contains { _, entry in
            fields.value(value.field, of: entry["local"]) == value.value
                || entry["operation"].flatMap(OperationView.init)?.says(value.field, value.value, fields) ?? false
        }
    }

    /// Checks I1 and L1 at the end: an unfinished write must be in the queue, held for a reason.
    mutating func finish() {
        for device in devices.indices {
            let queue = devices[device].queue
            for key in devices[device].claims.keys.sorted(by: { $0.description < $1.description }) {
                checkClaims(of: key, on: device)
                for operation in devices[device].operations(on: key)
                where !operation.isHeld && !devices[device].followsHeld(operation, on: key) {
                    violate(
                        .queueDrains,
                        "device \(device) still has \(operation.kind) of \(key), \(operation.state), in the queue of "
                            + queue)
                }
            }
        }
    }
}

extension OperationView {
    /// Whether the operation itself has a reason to wait.
    fileprivate var isHeld: Bool { state == "parked" || state == "dead" }
}

extension DeviceView {
    /// Whether the operation is pending because another one is held: an earlier one of its record, another one of its
    /// group, or one before such an operation.
    fileprivate func followsHeld(_ operation: OperationView, on key: RecordKey) -> Bool {
        guard operation.state == "pending" else { return false }
        guard let group = operation.group else { return isAfterHeld(operation, on: key) }
        return operations.contains { key, ofRecord in
            ofRecord.values.contains { $0.group == group && ($0.isHeld || isAfterHeld($0, on: key)) }
        }
    }

    private func isAfterHeld(_ operation: OperationView, on key: RecordKey) -> Bool {
        operations(on: key).contains { $0.isHeld && $0.sequence < operation.sequence }
    }
}

extension OracleClaim {
    /// The claim after the record is deleted; nil for a claim that was over before.
    fileprivate var whenDeleted: OracleClaim? {
        if case .value(let field, let value) = self { .deleted(field: field, value) } else { nil }
    }

    /// Whether the claim is the record's deletion.
    fileprivate var isDeletion: Bool { if case .deletion = self { true } else { false } }
}
