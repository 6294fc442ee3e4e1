internal import SluiceCore

extension SimulatedDevice {
    /// Returns the record for a number. There are few records, so that devices often edit the same one.
    func record(_ choice: Int) -> RecordKey {
        RecordKey(
            table: choice % 5 == 0 ? "notes" : "items", id: parts.setting.ids.known(parts.setting.id(choice / 8 % 6)))
    }

    /// Returns the application's id of a record: the one in the store, or the one for a new record. Returns nil where
    /// the store cannot be read.
    func localID(of key: RecordKey) async -> RecordID? {
        let ids = parts.setting.ids
        guard ids.areCapitals else { return key.id }
        do {
            let rows = try await context?.table(key.table).records() ?? []
            let here = rows.lazy.compactMap { $0["id"]?.textID }.first { ids.known($0) == key.id }
            return here ?? (0..<6).lazy.map { ids.id($0) }.first { ids.known($0) == key.id }
        } catch {
            explain(error, "a look for \(key)")
            return nil
        }
    }

    /// Edits a record as the application does; the checker notes the acknowledged edits.
    func edit(_ kind: SimulationAction.Kind, _ choice: Int) async {
        let key = self.record(choice)
        guard let id = await localID(of: key) else { return }
        let oracle = parts.oracle
        var values: [String: Int64] = [:]
        var record: JSON = ["id": JSON(id)]
        switch kind {
        case .insert:
            values = ["a": oracle.newValue(), "b": oracle.newValue()]
            record["group"] = JSON(choice / 64 % 4)
        case .update:
            values = [choice / 64 % 2 == 0 ? "a" : "b": oracle.newValue()]
        case .move: record["group"] = JSON(choice / 64 % 4)
        default: break
        }
        if key.table == "notes", parts.setting.dependency == .column {
            // Mostly the item that the server does not have at the start.
            let item = choice / 128 % 3 == 0 ? choice / 128 % 6 : 5
            if kind == .insert || kind == .move { record["item"] = JSON(parts.setting.id(item)) }
        }
        var memo: Int64?
        if parts.setting.keepsMemos, kind == .insert || kind == .update || kind == .move {
            memo = oracle.newValue()
            record[SimulatedMemo.column] = memo.map { JSON($0) }
            // Sometimes an update changes the memo alone: then no other device sees a change.
            if kind == .update, choice / 256 % 4 == 0 { values = [:] }
        }
        for (name, value) in parts.setting.fields.members(values) { record[name] = value }
        let edit = SimulatedEdit(key: key, kind: kind, fields: values, memo: memo)
        oracle.begin(edit, on: index)
        defer { oracle.end(key, on: index) }
        let hand = EditsInHand([edit])
        do {
            guard let table = try context?.table(key.table) else { return }
            let options = OperationOptions(isMergeable: !parts.setting.keepsApart || choice / 2048 % 3 > 0)
            try await EditsInHand.$current.withValue(hand) {
                switch kind {
                case .insert: _ = try await table.insert(record, options: options)
                case .delete: try await table.delete(id: id, options: options)
                case .undelete: try await table.undelete(id: id, options: options)
                // A typed record cannot have two properties that Swift takes for one.
                case .update where choice / 8192 % 4 == 0 && !parts.setting.fields.areTwins:
                    let changes = record
                    try await context?.table(key.table, of: [String: JSON].self).update(id: id, options: options) {
                        for (name, value) in changes.members ?? [] { $0[name.text] = value }
                    }
                default: _ = try await table.update(record, options: options)
                }
            }
        } catch {
            if Self.isRefusal(error) { return }
            guard hand.isCommitted else { return explain(error, "\(kind.rawValue) of \(key)") }
        }
        if !values.isEmpty, !hand.isCommitted {
            oracle.violate(.noLostWrite, "device \(index): \(kind.rawValue) of \(key) was acknowledged, and is nowhere")
        }
        parts.trace.note(
            "edit", key.id.text, index,
            line: "  device \(index) has made \(kind.rawValue) of \(key) \(SimulationText.of(record))")
    }

    /// Returns whether the record's present state allows no such edit.
    static func isRefusal(_ error: any Error) -> Bool {
        guard let code = (error as? SluiceError)?.code else { return false }
        return [.recordExists, .recordMissing, .operationRefused].contains(code)
    }

    /// Reports an error that the story's faults do not account for.
    func explain(_ error: any Error, _ what: @autoclosure () -> String) {
        if process.isDead || error is SimulatedCrash || error is CancellationError { return }
        if parts.setting.usesTokens, SimulationText.holds(Array("\(error)".utf8), SimulationTokens.mark) {
            parts.oracle.violate(.secrets, "device \(index), \(what()): \(error)")
        }
        if let error = error as? SluiceError {
            if error.cause is SimulatedCrash || error.cause is SimulatedMishap { return }
            if error.code == .hookFailed, parts.hookMishaps > 0 { return }
            let storeFails = parts.faults.allows(.storeFailure) || parts.faults.allows(.storeTrouble)
            if error.code.isStore, storeFails { return }
            // With faults, every error that the network or the server can cause.
            let isExpected =
                error.code.isNetwork || error.code == .cancelled || error.code == .serverFailure
                || error.code == .unauthorized || error.code == .brokenProtocol || error.code == .rejected
                || error.code == .operationsPending || error.code == .aborted
                // A cursor was removed while the pull that started over was still running.
                || (error.status == 403 && parts.faults.allows(.forbidden))
                || ([403, 404].contains(error.status) && parts.faults.allows(.tableFails))
                || (error.status == 410 && parts.faults.allows(.forgetRequests))
            let isMistake = error.message.contains("out of turn")
            if isExpected, !isMistake, !parts.setting.faults.isEmpty { return }
            // A server with a page limit refuses pages that are too large, even in a story without faults.
            if parts.server.limitsPages, [.rejected, .tooLarge, .serverFailure].contains(error.code) { return }
            // A simulated wait may be longer than the time limit of a request.
            if [.operationsPending, .aborted, .timeout].contains(error.code) { return }
        }
        parts.oracle.violate(.documentedErrors, "device \(index), \(what()): \(error)")
    }
}
