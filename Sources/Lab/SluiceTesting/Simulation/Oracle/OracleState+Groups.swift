internal import HTTPTypes
internal import SluiceCore

/// Checks of groups, of users and of tables that depend on others.
extension OracleState {
    /// Takes in a queued operation, and checks I10: the operations of a group are queued together.
    mutating func began(_ operation: OperationView, on device: Int) {
        if makers[operation.id] == nil {
            // The engine keeps the user of an operation that it makes from another, even while another user is active.
            let isMade = devices[device].editing[operation.key] != nil
            let user = isMade ? nil : operation.record["user"]?.string.flatMap(SimulatedAccount.user(named:))
            makers[operation.id] = user ?? devices[device].user
        }
        if operation.kind == "delete" { deletes.insert(operation.id) }
        if operation.kind == "insert" || operation.kind == "undelete" { comebacks.insert(operation.id) }
        let record = DeviceRecord(device: device, key: operation.key)
        var ahead = devices[device].operations(on: operation.key).map(\.id)
        if operation.kind == "delete", let last = lastEnded[record], last.moment == moment { ahead.append(last.id) }
        heritages[operation.id] = ahead.reduce(into: heritages[operation.id] ?? [operation.id]) {
            $0.formUnion(heritages[$1] ?? [])
        }
        guard let group = operation.group else { return }
        groups[operation.id] = group
        members[group, default: []].insert(operation.id)
        if groupsSince[group, default: moment] != moment {
            violate(.groups, "device \(device) stored \(operation.id) of group \(group) after the others")
        }
        groupsSince[group] = moment
    }

    /// Takes in an operation that left its queue. If it was discarded while its conflict was open, nothing was decided
    /// for later operations.
    mutating func ended(_ operation: String, on record: DeviceRecord) {
        lastEnded[record] = (operation, moment)
        let last = devices[record.device].operations[record.key]?[operation]
        let isUndecided = last?.state == "parked" && last?.hasMetConflict == true
        if !isUndecided { devices[record.device].shown.formUnion(contested[operation] ?? []) }
        if let group = groups[operation] {
            members[group]?.remove(operation)
            leavers[group, default: []].append((operation, record, moment))
        }
    }

    /// Takes in the effect of a request, and checks I12: the request is of the user who made the operation.
    mutating func tookEffect(_ request: String, for user: Int?, on device: Int) {
        let operation = Self.operation(of: request)
        effective.insert(operation)
        if let group = groups[operation] { arrived[group, default: []].insert(operation) }
        if let maker = makers[operation], let user, maker != user {
            violate(.userIsolation, "device \(device) sent \(request) of user \(maker) for user \(user)")
        }
    }

    /// Checks I10: if a part of a group arrived, all its queued operations have arrived, and none was discarded before.
    mutating func checkGroups() {
        for (group, operations) in arrived {
            let missing = (members[group] ?? []).subtracting(operations).filter { !hasArrived($0) }.sorted()
            if !missing.isEmpty {
                violate(
                    .groups, "a part of group \(group) took effect without \(missing.joined(separator: ", "))")
            }
            let givenUp = givenUp(of: group)
            if !givenUp.isEmpty {
                violate(
                    .groups,
                    "a part of group \(group) took effect after \(givenUp.joined(separator: ", ")) was given up")
            }
        }
        arrived = [:]
    }

    /// Returns the operations of a group that were discarded before the server had them. After a backup none count,
    /// because it removes effects.
    private func givenUp(of group: String) -> [String] {
        if hasRestored { return [] }
        let left = (leavers[group] ?? []).filter { operation, record, moment in
            !effective.contains(operation)
                && (devices[record.device].audit[record.key] ?? []).contains { entry in
                    entry.moment == moment && entry.entry["operation"]?["id"]?.textID == RecordID(operation)
                        && ["discard", "undo", "purge"].contains(entry.entry["what"]?.string)
                }
        }
        return left.map(\.operation).sorted()
    }

    /// Whether the current revision of an operation took effect before: a server that remembers requests does not
    /// repeat it.
    private func hasArrived(_ operation: String) -> Bool {
        devices.contains { device in
            let found = device.operations.values.lazy.compactMap { $0[operation] }.first
            return found?.record["revision"]?.int.map { effects["\(operation)-\($0)"] != nil } ?? false
        }
    }

    /// Checks I12: no request of one user carries a value of another, unless the user discarded the other's change and
    /// kept the record as displayed.
    mutating func checkUser(_ change: SimulatedChange, _ key: RecordKey, _ after: SimulatedRow) {
        guard let user = change.user else { return }
        for field in SimulatedFields.all {
            guard let number = fields.value(field, of: after.fields) else { continue }
            let value = FieldValue(key: key, field: field, value: number)
            if !held.contains(value), let writer = writers[value], writer != user, !gaveUp(value, in: change) {
                violate(.userIsolation, "\(field) = \(number) of \(key) is of user \(writer), and user \(user) sent it")
            }
        }
    }

    private func gaveUp(_ value: FieldValue, in change: SimulatedChange) -> Bool {
        change.device.map { gaveUp(value, on: devices[$0]) } ?? false
    }

    /// Checks I3: a note is not created before its item, if it depends on the item and both were made here in that
    /// order. An item that was restored here after the note was sealed comes later.
    mutating func checkParent(_ change: SimulatedChange, _ key: RecordKey, _ after: SimulatedRow, _ device: Int) {
        guard let call = change.call, call.method == .post, call.id == nil, let item = after.fields["item"]?.textID,
            let request = change.requestID,
            let operation = devices[device].operations[key]?[Self.operation(of: request)]
        else { return }
        let parent = RecordKey(table: "items", id: item)
        let isMissing = devices[device].operations(on: parent).contains {
            ($0.kind == "insert" || $0.kind == "undelete") && $0.sequence < operation.sequence
                && $0.since <= operation.since && !effective.contains($0.id)
        }
        if isMissing, aliveSince[parent] == nil {
            violate(.recordOrder, "device \(device) made \(key) before \(parent), on which it depends")
        }
    }

    /// Checks I3: an item is not deleted before the notes that depend on it, if the notes were deleted here first.
    mutating func checkChildren(_ change: SimulatedChange, _ key: RecordKey, _ after: SimulatedRow, _ device: Int) {
        guard after.isDeleted, key.table == "items", let request = change.requestID,
            let delete = devices[device].operations[key]?[Self.operation(of: request)]
        else { return }
        for (child, operations) in devices[device].operations where child.table == "notes" && aliveSince[child] != nil {
            let state = devices[device].tables[RecordState.schema.name]?[RecordState.id(child.table, child.id)]
            guard state?["base"]?["item"]?.textID == key.id else { continue }
            let isWaiting = operations.values.contains {
                $0.kind == "delete" && isOlder($0, delete) && !effective.contains($0.id)
                    && ($0.state == "pending" || $0.state == "inFlight")
            }
            if isWaiting {
                violate(.recordOrder, "device \(device) deleted \(key) before \(child), which depends on it")
            }
        }
    }

    /// Whether one record was deleted here before the other. Positions in the queue do not show it, because an
    /// operation moves to the end when another is put before it.
    private func isOlder(_ delete: OperationView, _ other: OperationView) -> Bool {
        guard let first = deletions[delete.id], let second = deletions[other.id], !conflicted.contains(other.id) else {
            return delete.sequence < other.sequence
        }
        return first < second
    }
}
