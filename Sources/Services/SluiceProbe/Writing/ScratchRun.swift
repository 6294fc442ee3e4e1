internal import SluiceBase
internal import SluiceOData
internal import SluiceSync
internal import SluiceWire

/// The part of a probe that writes: makes rows of its own in the scratch table, changes them, and deletes all of them.
struct ScratchRun: Sendable {
    let session: ProbeSession
    let form: ScratchForm
    /// The ids of all rows that may be there because of the probe.
    var made: [RecordID] = []
    /// The row that is changed and deleted: its id, and the record as the server last showed it.
    var id: RecordID = ""
    var current: JSON = .null
    /// A device that pulls the scratch table; nil where it has too many rows.
    var device: SyncContext?

    private init(_ session: ProbeSession, _ form: ScratchForm) { (self.session, self.form) = (session, form) }

    var columns: SystemColumns { session.dialect.columns }
    var version: String? { current[columns.version]?.string }

    /// Writes to the scratch table, with `body` where some of the rows are there.
    ///
    /// - Throws: at the probe's bounds, and the errors of `body`. The rows are deleted in any case.
    static func during(
        _ session: ProbeSession, _ model: EdmModel?, _ report: inout ProbeReport,
        _ body: (inout ProbeReport) async throws -> Void
    ) async throws {
        guard let form = try await form(session, model) else {
            let reason = "its key has several parts, or its rows cannot be made and deleted"
            report.add("scratch", fact: "nothing is written to \(session.table): \(reason)")
            return try await body(&report)
        }
        var run = ScratchRun(session, form)
        do {
            try await run.write(&report, body)
        } catch {
            await run.clean(&report)
            throw error
        }
        await run.clean(&report)
    }

    private static func form(_ session: ProbeSession, _ model: EdmModel?) async throws -> ScratchForm? {
        let seed = session.environment.makeID()
        guard session.isService else {
            var query = TableQuery(session.table)
            query.top = 1
            let rows = try? await session.client.table(session.table).read(query).rows
            return ScratchForm(
                columns: session.options.columns, rows: rows ?? [], system: session.dialect.columns.all, seed: seed)
        }
        guard let model, let set = try model.entitySet(session.table),
            let container = model.sets.first(where: { $0.name == session.table })
        else {
            throw SluiceError(.notFound, "the service describes no set of that name", table: session.table)
        }
        guard !forbids(container, "InsertRestrictions", "Insertable", "creatable"),
            !forbids(container, "DeleteRestrictions", "Deletable", "deletable")
        else { return nil }
        return ScratchForm(set, try model.whole(container.type), seed: seed)
    }

    /// Whether the service says that it takes no such change (OData Capabilities, or SAP's attribute).
    private static func forbids(
        _ set: EdmModel.Container, _ term: String, _ member: PropertyName, _ attribute: String
    ) -> Bool {
        set.annotations[term]?[member] == JSON(false) || set.annotations[attribute] == JSON("false")
    }

    private mutating func write(
        _ report: inout ProbeReport, _ body: (inout ProbeReport) async throws -> Void
    ) async throws {
        guard try await insert(&report) else { return try await body(&report) }
        for letter in ["b", "c"] as [Unicode.Scalar] { _ = try await make(letter) }
        try await body(&report)
        device = try await follower()
        try await update(&report)
        try await values(&report)
        try await twin(&report)
        try await repeats(&report)
        try await batches(&report)
        try await delete(&report)
        try await halve(&report)
    }

    // MARK: Single changes

    /// Sends the creation of the row of that letter.
    mutating func make(_ letter: Unicode.Scalar, text: String? = nil) async throws -> ProbeRecord {
        try await make(record: form.record(letter, id: columns.id, text: text))
    }

    mutating func make(record: JSON, _ change: (inout SyncRequest) -> Void = { _ in }) async throws -> ProbeRecord {
        if let id = record[columns.id]?.textID { made.append(id) }
        var request = session.dialect.insert(table: session.table, record: record, endpoint: session.client.endpoint)
        change(&request)
        let answer = try await session.record(request)
        if answer.isDone, let id = answer.bodyID { made.append(id) }
        return answer
    }

    /// Sends an update of a record; on a wire without PATCH the whole record goes.
    func change(
        _ id: RecordID, _ record: JSON, _ column: PropertyName, _ value: JSON, version: String?
    ) async throws -> ProbeRecord {
        var body = session.dialect.patchesUpdates ? JSON.object : record
        for name in columns.all { body[name] = nil }
        body[columns.id] = JSON(id)
        body[column] = value
        return try await session.record(
            session.dialect.update(
                table: session.table, id: id, changes: body, version: version, endpoint: session.client.endpoint))
    }

    func remove(_ id: RecordID, version: String?) async throws -> ProbeRecord {
        try await session.record(
            session.dialect.delete(table: session.table, id: id, version: version, endpoint: session.client.endpoint))
    }

    // MARK: Cleaning

    /// Deletes all rows that the probe has made, also where it was cancelled.
    private func clean(_ report: inout ProbeReport) async {
        session.wire.allowCleaning()
        let ids = made.reduce(into: [RecordID]()) { ids, id in if !ids.contains(id) { ids.append(id) } }
        let left = await Task { [self] in await cleaned(ids) }.value
        if !left.isEmpty { report.add(.scratchLeft, "not deleted: \(RowsSeen.names(left))") }
    }

    private func cleaned(_ ids: [RecordID]) async -> [RecordID] {
        var left: [RecordID] = []
        for id in ids {
            do {
                let row = try await session.lookup(id)
                if row.error?.code == .notFound || row.json?[columns.deleted] == true { continue }
                var answer = try await remove(id, version: row.json?[columns.version]?.string)
                if answer.error != nil { answer = try await remove(id, version: nil) }
                if let error = answer.error, error.code != .notFound { left.append(id) }
            } catch {
                left.append(id)
            }
        }
        return left
    }
}
