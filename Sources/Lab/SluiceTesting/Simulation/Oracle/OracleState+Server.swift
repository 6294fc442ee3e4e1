internal import SluiceCore

extension OracleState {
    /// Takes in the effect of a change on the server, and checks it.
    mutating func effect(_ change: SimulatedChange, before: SimulatedRow?, after: SimulatedRow) {
        moment += 1
        let key = RecordKey(table: change.table, id: after.id)
        history["v\(after.version)"] = after.wire
        let wasThere = before.map { !$0.isDeleted } ?? false
        if before?.isDeleted == true, !after.isDeleted { revivals.insert("v\(after.version)") }
        if after.isDeleted {
            aliveSince[key] = nil
            // Nothing shows any longer that a request made the row, so a repeated request may make it again.
            if forgetsDeleted { for request in requestsOn.removeValue(forKey: key) ?? [] { effects[request] = nil } }
        } else if !wasThere {
            aliveSince[key] = moment
        }
        checkUser(change, key, after)
        if !after.isDeleted {
            for field in SimulatedFields.all {
                if let value = fields.value(field, of: after.fields) {
                    held.insert(FieldValue(key: key, field: field, value: value))
                }
            }
        }
        guard let device = change.device else { return }
        // Where nothing is left of a row, the server cannot see that a request for it is late.
        checkRequest(change, key, device, after.version, mayBeLate: forgetsDeleted && !wasThere)
        if after.isDeleted {
            deletedLast.insert(DeviceRecord(device: device, key: key))
        } else {
            deletedLast.remove(DeviceRecord(device: device, key: key))
        }
        checkCondition(change, key, before, after, device)
        checkValues(change, key, before, after, device)
        checkParent(change, key, after, device)
        checkChildren(change, key, after, device)
    }

    /// Checks I2, a request takes effect once, and I3, the requests on a record take effect in order.
    private mutating func checkRequest(
        _ change: SimulatedChange, _ key: RecordKey, _ device: Int, _ version: Int, mayBeLate: Bool
    ) {
        guard let request = change.requestID else {
            violate(.exactlyOnce, "device \(device) changed \(key) without an operation's id")
            return
        }
        effects[request, default: 0] += 1
        if effects[request, default: 0] > 1 {
            violate(.exactlyOnce, "request \(request) of device \(device) took effect on \(key) twice")
        }
        requestsOn[key, default: []].insert(request)
        // An operation's id reads `device.number`, and the request's id adds `-revision`.
        let parts = request.split { $0 == "." || $0 == "-" }.map { Int($0) ?? 0 }
        guard parts.count == 3 else {
            return violate(.exactlyOnce, "\(request) is no request's id: operation and revision")
        }
        authors["v\(version)"] = request
        tookEffect(request, for: change.user, on: device)
        let operation = Self.operation(of: request)
        let order = EffectOrder(rank: ranks[operation] ?? 0, revision: parts[2])
        let record = DeviceRecord(device: device, key: key)
        if let last = lastEffects[record], order < last, !mayBeLate {
            violate(.recordOrder, "request \(request) of device \(device) took effect on \(key) after a later one")
        }
        lastEffects[record] = order
    }

    /// Checks I4, an update or a delete replaces only the version that it was made on, and I9, a deleted record comes
    /// back only on purpose.
    private mutating func checkCondition(
        _ change: SimulatedChange, _ key: RecordKey, _ before: SimulatedRow?, _ after: SimulatedRow, _ device: Int
    ) {
        let isRestored = before?.isDeleted ?? false
        if change.isUpdate, change.call?.ifMatch == nil, !isRestored {
            violate(.noStaleOverwrite, "device \(device) changed \(key) without a condition")
        }
        let state = devices[device].tables[RecordState.schema.name]?[RecordState.id(key.table, key.id)]
        if change.isUpdate || after.isDeleted, !isRestored, let base = state?["base"]?[columns.version]?.string,
            let before, Self.number(base) != before.version
        {
            let verb = after.isDeleted ? "deleted" : "changed"
            violate(.noStaleOverwrite, "device \(device) \(verb) v\(before.version) of \(key), made on \(base)")
        }
        if isRestored, !change.mayRestore {
            violate(.deletedStaysDeleted, "a change by device \(device) brought \(key) back")
        }
    }

    /// Checks I4: an update replaces no value from elsewhere by one that nobody wrote on this device; its other
    /// properties equal those of the row. It also replaces no value that the application has not seen, unless the
    /// application decided a conflict. A conflict decided for the client sends the whole record, and so does an
    /// undelete: as the device knew it.
    private mutating func checkValues(
        _ change: SimulatedChange, _ key: RecordKey, _ before: SimulatedRow?, _ after: SimulatedRow, _ device: Int
    ) {
        guard change.isUpdate, !hasFilters, let before, !before.isDeleted, !after.isDeleted else { return }
        let operation = Self.operation(of: change.requestID ?? "")
        let heritage = heritages[operation] ?? []
        guard effective.isDisjoint(with: deletes.intersection(heritage)), !conflicted.contains(operation) else {
            return
        }
        let isDecided = !conflicted.isDisjoint(with: heritage)
        // An insert replaces a deleted row, and an undelete restores values that are not known here yet.
        let comesBack = !comebacks.isDisjoint(with: heritage)
        let view = devices[device]
        if tidiesPages, !isDecided, fields.writesTidying(over: before.fields, after.fields) {
            violate(.noStaleOverwrite, "device \(device) wrote to \(key) what a hook made of \(before.fields)")
        }
        for field in SimulatedFields.all {
            let values = [before, after].compactMap { row in
                fields.value(field, of: row.fields).map { FieldValue(key: key, field: field, value: $0) }
            }
            guard values.count == 2, values[0] != values[1] else { continue }
            if !isDecided, view.offered.isDisjoint(with: values) {
                violate(.noStaleOverwrite, "device \(device) set \(field) of \(key) to a value that it did not write")
            }
            if !comesBack, !view.shown.contains(values[0]), !view.offered.contains(values[0]) {
                violate(.noStaleOverwrite, "device \(device) replaced \(field) = \(values[0].value) of \(key) unseen")
            }
        }
    }

    /// Checks I5: a successful pull has returned each row that was committed before it began.
    mutating func pulled(_ rows: [SimulatedRow], of table: String, named: Bool, on device: Int) {
        // A pull is not told of rows that a backup brought back: a reconcile finds them.
        for row in rows where !row.isOdd && row.version > restoredAt ?? 0 {
            let key = RecordKey(table: table, id: row.id)
            guard devices[device].operations[key] == nil else { continue }
            let local = devices[device].row(key)
            if row.isDeleted {
                if named, local != nil {
                    violate(.noSkippedRow, "device \(device) pulled, and still has \(key), deleted as v\(row.version)")
                }
            } else if Self.number(local?[columns.version]?.string ?? "") < row.version {
                violate(
                    .noSkippedRow,
                    "device \(device) pulled, and has \(key) as \(local.map { "\($0)" } ?? "nothing") "
                        + "where the server has \(row.wire)")
            }
        }
    }

    /// Takes in the permanent removal of a row. The server no longer knows that it made the row, so a repeated request
    /// may make it again.
    mutating func forgot(_ key: RecordKey) {
        aliveSince[key] = nil
        for request in requestsOn.removeValue(forKey: key) ?? [] { effects[request] = nil }
    }

    /// Checks I2: a request with a known id equals the earlier request of that id.
    mutating func sent(_ request: String, _ text: String, by device: Int) {
        if let known = requests[request], known != text {
            violate(.exactlyOnce, "device \(device) sent \(text) as \(request), which was \(known) before")
        }
        requests[request] = text
        if let record = record(of: request, on: device) { unproven[record, default: 0] += 1 }
    }

    /// Takes in an answer that proves that the request did nothing.
    mutating func refused(_ request: String, by device: Int) {
        if let record = record(of: request, on: device) { unproven[record, default: 1] -= 1 }
    }

    /// Takes in the end of a process: it may not have noted the last answer, and nobody knows whether what is in flight was
    /// sent.
    mutating func forgetProofs(of device: Int) {
        let inFlight = devices[device].operations.filter { $0.value.values.contains { $0.state == "inFlight" } }.keys
        let sent = unproven.keys.filter { $0.device == device }
        for record in Set(sent).union(inFlight.map { DeviceRecord(device: device, key: $0) }) {
            unproven[record, default: 0] += 1
        }
    }

    private func record(of request: String, on device: Int) -> DeviceRecord? {
        let operation = Self.operation(of: request)
        let key = devices[device].operations.first { $0.value[operation] != nil }?.key
        return key.map { DeviceRecord(device: device, key: $0) }
    }

    /// Returns the operation in a request's id, which consists of operation and revision.
    static func operation(of request: String) -> String { String(request.prefix { $0 != "-" }) }
}
