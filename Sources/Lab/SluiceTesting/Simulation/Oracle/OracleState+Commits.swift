internal import SluiceCore

extension OracleState {
    /// Takes in the changes of a device's transaction, and checks them.
    mutating func committed(_ transaction: SimulatedTransaction, on device: Int) {
        moment += 1
        let edits = transaction.edits.map { (edit: $0, takesBack: takesBack($0, on: device)) }
        var touched: Set<RecordKey> = Set(transaction.edits.map(\.key))
        var rowsBefore: [RecordKey: JSON?] = [:]
        var bases: [(key: RecordKey, before: JSON?, after: JSON?)] = []
        var isPage = false
        let memos = takeMemos(transaction, on: device)
        for change in memos.changes {
            let old = devices[device].tables[change.table]?[change.id]
            devices[device].tables[change.table, default: [:]][change.id] = change.record
            switch change.table {
            case TableOperation.schema.name:
                if let key = takeOperation(change, old, on: device) { touched.insert(key) }
            case SyncTables.audit.name:
                if let entry = change.record, let operation = entry["operation"].flatMap(OperationView.init) {
                    devices[device].audit[operation.key, default: []].append((moment, entry))
                    if operation.kind == "delete", ["discard", "undo"].contains(entry["what"]?.string) {
                        takeBackDeletion(of: operation.key, on: device)
                    }
                    touched.insert(operation.key)
                }
            case Cursor.schema.name:
                checkCursor(old, change.record, on: device)
            case ChangeStamps.schema.name:
                isPage = isPage || (change.record?["pages"]?.int ?? 0) > (old?["pages"]?.int ?? 0)
            case RecordState.schema.name:
                if let key = checkState(old, change.record, on: device), let record = change.record {
                    // A record that gets its state by a page has appeared after its operation was discarded here.
                    if let old { bases.append((key, old["base"], record["base"])) }
                }
            case let table where !table.hasPrefix(SyncTables.prefix):
                let key = RecordKey(table: table, id: change.id)
                touched.insert(key)
                if rowsBefore[key] == nil { rowsBefore[key] = .some(old) }
            default: break
            }
        }
        checkMemos(memos.found, on: device)
        for (edit, takesBack) in edits { note(edit, takesBack: takesBack, on: device) }
        for (key, old) in rowsBefore { checkRow(key, old, on: device) }
        for key in touched.sorted(by: { $0.description < $1.description }) {
            rank(key, on: device)
            checkSettled(key, on: device)
            checkClaims(of: key, on: device)
        }
        guard isPage else { return }
        checkPage(rowsBefore, bases, on: device)
    }

    /// Takes the local-only column out of rows.
    ///
    /// - Returns: the changes without it, and the column's new value in each row.
    private mutating func takeMemos(
        _ transaction: SimulatedTransaction, on device: Int
    ) -> (changes: [StoreChange], found: [RecordKey: Int64?]) {
        var found: [RecordKey: Int64?] = [:]
        let changes = transaction.changes.map { change -> StoreChange in
            if change.table.hasPrefix(SyncTables.prefix) { return change }
            let key = RecordKey(table: change.table, id: change.id)
            guard let record = change.record else {
                // The memo goes with its record.
                devices[device].memos[key] = nil
                found[key] = nil
                return change
            }
            found[key] = .some(record[SimulatedMemo.column]?.int)
            return StoreChange(table: change.table, id: change.id, record: SimulatedMemo.without(record))
        }
        for edit in transaction.edits { if let memo = edit.memo { devices[device].memos[edit.key] = memo } }
        return (changes, found)
    }

    /// Checks I1: the local-only column has the value written last.
    private mutating func checkMemos(_ found: [RecordKey: Int64?], on device: Int) {
        for (key, memo) in found where memo != devices[device].memos[key] {
            let expected = devices[device].memos[key]
            violate(
                .noLostWrite,
                "device \(device) has the memo \(memo.map { "\($0)" } ?? "none") with \(key), and wrote "
                    + (expected.map { "\($0)" } ?? "none"))
        }
    }

    private mutating func takeOperation(_ change: StoreChange, _ old: JSON?, on device: Int) -> RecordKey? {
        if let record = change.record {
            guard var operation = OperationView(record) else {
                violate(.atomicity, "device \(device) holds an operation that cannot be read: \(record)")
                return nil
            }
            operation.since = moment
            devices[device].operations[operation.key, default: [:]][operation.id] = operation
            if old == nil { began(operation, on: device) }
            // A conflict decided for the edit of a missing record makes the edit an insert, and so does an operator who
            // changes its kind.
            if operation.kind == "insert" { comebacks.insert(operation.id) }
            // An operation that now carries a later delete counts from the time of that delete.
            if operation.kind == "delete", deletions[operation.id] == nil {
                for case .deletion(let since) in devices[device].claims[operation.key] ?? [] {
                    deletions[operation.id] = since
                }
            }
            return operation.key
        }
        guard let key = old.flatMap(OperationView.init)?.key else { return nil }
        ended(change.id.text, on: DeviceRecord(device: device, key: key))
        devices[device].operations[key]?[change.id.text] = nil
        if devices[device].operations[key]?.isEmpty ?? false { devices[device].operations[key] = nil }
        return key
    }

    /// Ranks the record's operations in their order. An operation inserted between others moves the later ones on.
    private mutating func rank(_ key: RecordKey, on device: Int) {
        var last = 0
        for operation in devices[device].operations(on: key) {
            let known = ranks[operation.id] ?? 0
            if known <= last {
                lastRank += 1
                ranks[operation.id] = lastRank
            }
            last = max(known, ranks[operation.id] ?? 0)
        }
    }

    /// Checks I6: a cursor goes forward, unless the query or the server's clock changed, or a pull started over.
    private mutating func checkCursor(_ old: JSON?, _ new: JSON?, on device: Int) {
        guard let old, let new, old["query"] == new["query"], clockSteps == 0,
            let before = old["updatedAt"]?.string.flatMap({ Timestamp($0) }),
            let after = new["updatedAt"]?.string.flatMap({ Timestamp($0) }), new["reconcile"]?.bool != true
        else { return }
        if after < before { violate(.cursorForward, "device \(device): from \(before) back to \(after)") }
    }

    /// Checks I8: base and mirror are states that the server has had.
    private mutating func checkState(_ old: JSON?, _ new: JSON?, on device: Int) -> RecordKey? {
        guard let record = new ?? old, let table = record["table"]?.string, let id = record["record"]?.textID else {
            return nil
        }
        for name in ["base", "mirror"] {
            guard let copy = new?[name], copy.kind == .object else { continue }
            guard let version = copy[columns.version]?.string else {
                violate(.noInvention, "device \(device): \(name) of \(table)/\(id) has no version: \(copy)")
                continue
            }
            defer { devices[device].note(Self.name(version)) }
            if let was = old?[name]?[columns.version]?.string, goesBack(from: was, to: version, on: device) {
                violate(.session, "device \(device): the \(name) of \(table)/\(id) went from \(was) back to \(version)")
            }
            if !isState(copy, version) {
                violate(.noInvention, "device \(device): \(name) of \(table)/\(id) is no state of the server: \(copy)")
            }
        }
        return RecordKey(table: table, id: id)
    }

    /// Whether the copy equals the server's record of that version. The properties of an answer are merged into the
    /// known record, so a removed property stays until the next page.
    private func isState(_ copy: JSON, _ version: String) -> Bool {
        guard let state = history[Self.name(version)] else { return false }
        if isOfOldStore(copy) { return true }
        let copy = ids.known(copy)
        return isLike(state, copy) || tidiesPages && isLike(fields.tidied(state), copy)
    }

    /// Whether the copy is the base of a change from an old SDK's store: id and version alone.
    func isOfOldStore(_ copy: JSON) -> Bool {
        adopts && copy.names.allSatisfy { $0 == columns.id || $0 == columns.version }
    }

    private func isLike(_ state: JSON, _ copy: JSON) -> Bool {
        state == copy
            || (state.members ?? []).allSatisfy { copy[$0.name] == $0.value }
                && (copy.members ?? []).allSatisfy { name, _ in state[name] != nil || fields.isOne(name) }
    }

    /// Returns the number in a version, which may be a whole entity tag.
    static func number(_ version: String) -> Int {
        let digits = version.utf8.drop { $0 != UInt8(ascii: "v") }.dropFirst()
            .prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }

    /// Returns the version's name, for every form it has on the wire.
    static func name(_ version: String) -> String { "v\(number(version))" }

    /// Whether a record of the device has gone back to a version that the device must know as replaced. Where replicas
    /// of the server answer, it knows this only of versions that it had and has replaced itself.
    private func goesBack(from was: String, to version: String, on device: Int) -> Bool {
        guard Self.number(was) > Self.number(version), !hasRestored else { return false }
        if !hasReplicas { return true }
        let places = devices[device].versions
        guard authors[Self.name(was)]?.hasPrefix("\(device).") == true, let place = places[Self.name(version)] else {
            return false
        }
        return place < places[Self.name(was)] ?? 0
    }

    /// Checks I8, values have an origin, and I11, versions go forward.
    private mutating func checkRow(_ key: RecordKey, _ old: JSON?, on device: Int) {
        guard let row = devices[device].row(key) else { return }
        for field in SimulatedFields.all {
            guard let number = fields.value(field, of: row) else { continue }
            let value = FieldValue(key: key, field: field, value: number)
            devices[device].shown.insert(value)
            if !held.contains(value), !devices[device].offered.contains(value) {
                violate(.noInvention, "device \(device) has \(field) = \(number) in \(key), which nobody wrote")
            }
        }
        noteHidden(key, row, on: device)
        guard let version = row[columns.version]?.string else { return }
        if let was = old?[columns.version]?.string, goesBack(from: was, to: version, on: device),
            versionsAtTransfer[DeviceRecord(device: device, key: key)] != version
        {
            violate(.session, "device \(device): \(key) went from \(was) back to \(version)")
        }
        devices[device].note(Self.name(version))
    }

    /// Notes values that the application's own hook hides: the device counts as having seen them.
    private mutating func noteHidden(_ key: RecordKey, _ row: JSON, on device: Int) {
        guard tidiesPages, let version = row[columns.version]?.string else { return }
        for field in SimulatedFields.all {
            guard let value = fields.value(field, of: history[Self.name(version)]) else { continue }
            devices[device].shown.insert(FieldValue(key: key, field: field, value: value))
        }
    }

    /// Checks I7 and I8: a record without operations is one that the server has had, complete.
    private mutating func checkSettled(_ key: RecordKey, on device: Int) {
        guard let row = devices[device].row(key) else { return }
        guard devices[device].operations[key] == nil else { return checkBase(of: key, row, on: device) }
        guard let version = row[columns.version]?.string else {
            violate(.atomicity, "device \(device) has \(key) without operation, and never from the server: \(row)")
            return
        }
        if !isState(row, version) {
            violate(.noInvention, "device \(device): \(key) without operation is no state of the server: \(row)")
        }
    }

    /// Checks I4: a record with operations stands on its base, and on no other version.
    private mutating func checkBase(of key: RecordKey, _ row: JSON, on device: Int) {
        // A record from another queue stands on the state known there, and one after a backup on older versions.
        if hasRestored { return }
        if let first = devices[device].operations(on: key).first, transferred.contains(first.id) { return }
        // An undelete shows the newest known state of the server, after a delete that may have been done.
        if devices[device].operations(on: key).contains(where: { $0.kind == "undelete" }) { return }
        let base = devices[device].tables[RecordState.schema.name]?[RecordState.id(key.table, key.id)]?["base"]
        guard let version = base?[columns.version]?.string, let here = row[columns.version]?.string else { return }
        // An undelete after a delete that may have been done shows the record as the server last had it.
        if devices[device].operations(on: key).dropFirst().contains(where: { $0.kind == "undelete" }) { return }
        // A decision for the client moves the base on, under a record that stays as it is.
        if Self.number(version) < Self.number(here) {
            violate(.noStaleOverwrite, "device \(device): \(key) is of version \(here), and its base of \(version)")
        }
    }

    /// Checks I4: a page changes no record with operations, and no base.
    private mutating func checkPage(
        _ rows: [RecordKey: JSON?], _ bases: [(key: RecordKey, before: JSON?, after: JSON?)], on device: Int
    ) {
        for (key, old) in rows where devices[device].operations[key] != nil {
            if devices[device].row(key) != old {
                violate(.noStaleOverwrite, "device \(device): a page changed \(key), which has operations")
            }
        }
        for (key, before, after) in bases where (before ?? .null) != (after ?? .null) {
            violate(.noStaleOverwrite, "device \(device): a page moved the base of \(key)")
        }
    }
}
