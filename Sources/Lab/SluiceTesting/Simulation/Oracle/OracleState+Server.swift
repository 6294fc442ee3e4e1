internal import SluiceCore

extension OracleState {
    /// Takes in what a change did on the server, and checks it.
    mutating func effect(_ change: SimulatedChange, before: SimulatedRow?, after: SimulatedRow) {
        moment += 1
        let key = RecordKey(table: change.table, id: after.id)
        history["v\(after.version)"] = after.wire
        let wasThere = before.map { !$0.isDeleted } ?? false
        if before?.isDeleted == true, !after.isDeleted { revivals.insert("v\(after.version)") }
        if after.isDeleted {
            aliveSince[key] = nil
            // Nothing is left to tell that a request made the row, so a repeated one may make it again.
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
        // Where nothing is left of a row, nothing tells the server that a late request for it is late.
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

    /// I2: a request takes effect once. I3: those on a record take it in their order.
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
        // An id reads `device.number`, and the request's adds `-revision`.
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

    /// I4: an update or a delete replaces only the version it was made on. I9: what is deleted comes back only on
    /// purpose.
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

    /// I4: an update puts no value that nobody wrote on this device in the place of one from elsewhere: whatever it
    /// carries of the record besides is as it is there. And it replaces none that the application has not seen, unless
    /// that decided a conflict. A conflict that was decided for the client sends the record whole, and so does who
    /// brings back what was deleted from here: as it was seen here.
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
        // What an insert finds deleted it takes the place of, and an undelete restores what is not known here yet.
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

    /// I5: a pull that ended well has brought each row that was committed before it began.
    mutating func pulled(_ rows: [SimulatedRow], of table: String, named: Bool, on device: Int) {
        // What a backup has brought back is no change that a pull could be told of: a reconcile finds it.
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

    /// A row is gone for good. Nothing tells a server that it once made it, so a request that is repeated may make it
    /// again.
    mutating func forgot(_ key: RecordKey) {
        aliveSince[key] = nil
        for request in requestsOn.removeValue(forKey: key) ?? [] { effects[request] = nil }
    }

    /// I2: a request with an id that went out before is the same request.
    mutating func sent(_ request: String, _ text: String, by device: Int) {
        if let known = requests[request], known != text {
            violate(.exactlyOnce, "device \(device) sent \(text) as \(request), which was \(known) before")
        }
        requests[request] = text
        if let record = record(of: request, on: device) { unproven[record, default: 0] += 1 }
    }

    /// A request was answered so that nothing can have been done.
    mutating func refused(_ request: String, by device: Int) {
        if let record = record(of: request, on: device) { unproven[record, default: 1] -= 1 }
    }

    /// A process of the device has ended: it may not have come to note what was answered.
    mutating func forgetProofs(of device: Int) {
        for record in unproven.keys where record.device == device { unproven[record, default: 0] += 1 }
    }

    private func record(of request: String, on device: Int) -> DeviceRecord? {
        let operation = Self.operation(of: request)
        let key = devices[device].operations.first { $0.value[operation] != nil }?.key
        return key.map { DeviceRecord(device: device, key: $0) }
    }

    /// The operation of a request's id: operation and revision.
    static func operation(of request: String) -> String { String(request.prefix { $0 != "-" }) }
}
