internal import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// The life of one row: it is made, changed and deleted, and a device follows it.
extension ScratchRun {
    /// Makes the row, makes it again, and reads it.
    ///
    /// - Returns: whether it is there.
    mutating func insert(_ report: inout ProbeReport) async throws -> Bool {
        var seen = InsertSeen(
            id: form.id("a"), made: try await make("a"), columns: columns, isService: session.isService)
        id = seen.made.bodyID ?? form.id("a") ?? ""
        if seen.made.error == nil, !id.isEmpty {
            if !form.assignsIDs { seen.again = try await make("a", text: "again") }
            seen.found = try await session.lookup(id)
        }
        report.add(seen)
        current = seen.found?.json ?? seen.made.json ?? .null
        if !current.isNull, seen.again?.isDone != true { report.add(ValuesSeen(form: form, record: current)) }
        return !current.isNull
    }

    mutating func update(_ report: inout ProbeReport) async throws {
        guard let (column, value) = news("changed") else {
            return report.add("scratch", fact: "no column of the scratch table can be changed")
        }
        let before = current
        let updated = try await change(id, before, column, value, version: version)
        if session.isService, [405, 501].contains(updated.status) {
            report.proposal.service.append(("tunnel", "true"))
        }
        let after = try await session.lookup(id)
        var seen = UpdateSeen(
            id: id, before: before, column: column, value: value, updated: updated, after: after, columns: columns,
            isService: session.isService)
        if updated.error == nil, let old = version, after.json?[columns.version]?.string != old,
            let (column, value) = news("stale")
        {
            seen.stale = try await change(id, before, column, value, version: old)
            seen.afterStale = try await session.lookup(id)
        }
        report.add(seen)
        current = seen.afterStale?.json ?? after.json ?? current
    }

    /// A column and another value for it.
    private func news(_ word: String) -> (PropertyName, JSON)? {
        if let text = form.text { return (text, JSON(word)) }
        if let integer = form.integer { return (integer, JSON(word.utf8.count)) }
        return form.flag.map { ($0, JSON(word == "stale")) }
    }

    /// Clears a value.
    mutating func values(_ report: inout ProbeReport) async throws {
        var seen = ValuesSeen(form: form, record: form.values)
        if let column = form.real ?? form.date ?? form.integer, current[column]?.isNull == false {
            let cleared = try await change(id, current, column, .null, version: version)
            let record = try await session.lookup(id).json
            if cleared.error == nil { seen.cleared = (column, record?[column]) }
            current = record ?? current
        }
        report.add(seen)
    }

    /// Sends half an emoji, in a row of its own that is deleted at once: some servers fail at each list with such a row.
    func halve(_ report: inout ProbeReport) async throws {
        guard let text = form.text, let other = form.id("b"), let row = try await session.lookup(other).json else {
            return
        }
        let sent = try await change(
            other, row, text, JSON("x\(ProbeTransport.halfEmojiMark)y"), version: row[columns.version]?.string)
        let back = try await session.lookup(other)
        _ = try await remove(other, version: nil)
        var seen = ValuesSeen(form: form, record: form.values)
        seen.half = back.error.map { .kept($0.message) } ?? (sent.isDone ? .replaced : .refused)
        report.add(seen)
    }

    /// Makes a row whose id differs from the first one's in its letters alone.
    mutating func twin(_ report: inout ProbeReport) async throws {
        guard form.hasTextIDs, form.id("a") == id else { return }
        let text = id.text
        let other = RecordID.string(text.lowercased() == text ? text.uppercased() : text.lowercased())
        var record = form.record("a", id: columns.id)
        record[columns.id] = JSON(other)
        let answer = try await make(record: record)
        let isTaken = [.conflict, .preconditionFailed].contains(answer.error?.code)
        guard isTaken || (answer.isDone && answer.bodyID.map { $0 != other } ?? false) else { return }
        report.add(.idsFolded, "a row \(other.text) cannot be made beside \(text)")
    }

    mutating func delete(_ report: inout ProbeReport) async throws {
        let before = current
        var seen = DeleteSeen(
            id: id, before: before, deleted: ProbeRecord(.success(nil)), after: ProbeRecord(.success(nil)),
            columns: columns, isService: session.isService)
        seen.pulledUpdate = try await follows { $0.map { $0[columns.version] == before[columns.version] } ?? false }
        if let version, let (column, value) = news("later") {
            // Another device's change, which the delete does not know.
            let later = try await change(id, before, column, value, version: version)
            let now = try await session.lookup(id).json
            if later.error == nil, let now, now[columns.version]?.string != version {
                seen.stale = try await remove(id, version: version)
                seen.afterStale = try await session.lookup(id)
                current = now
                seen.before = now
            }
        }
        seen.deleted = try await remove(id, version: self.version)
        seen.after = try await session.lookup(id)
        seen.traces = try await session.list { $0.filter = ProbeSession.equals(columns.id, id) }.probed
        seen.pulledDelete = try await follows { $0 == nil }
        seen.hasTokens = try await device?.status().cursors.first?.grade == .changeTokens
        if !session.isService, seen.traces?.rows.contains(where: \.isDeleted) ?? false {
            seen.undeleted = try await session.record(
                session.dialect.undelete(
                    table: session.table, id: id, record: seen.before,
                    version: seen.traces?.rows.first?.version, endpoint: session.client.endpoint))
        }
        report.add(seen)
    }

    // MARK: A device that follows

    /// A device that has pulled the table; nil where that does not end within the probe's number of rows.
    func follower() async throws -> SyncContext? {
        let context = try await session.context()
        do {
            try await context.pull(TableQuery(session.table), named: ProbeSession.queryName)
        } catch {
            try session.check(error)
            return nil
        }
        return context
    }

    /// Whether the device has the row as expected after another pull; nil where it cannot tell.
    private func follows(_ isExpected: (JSON?) -> Bool) async throws -> Bool? {
        guard let device else { return nil }
        do {
            try await device.pull(TableQuery(session.table), named: ProbeSession.queryName, allowsMassRemoval: true)
        } catch {
            try session.check(error)
            return nil
        }
        return isExpected(try await device.table(session.table).lookup(id: id))
    }
}
