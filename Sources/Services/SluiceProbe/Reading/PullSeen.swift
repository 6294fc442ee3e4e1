internal import SluiceBase
internal import SluiceOData
internal import SluiceSync
internal import SluiceWire

/// A trial pull into memory: the engine's own, twice, and a reconcile after it.
struct PullSeen: ProbeObservation {
    /// The outcome of the first pull; nil where it ended at the probe's number of rows.
    var first: Result<PullResult, SluiceError>?
    var grade: PullResult.Grade?
    var requests = 0
    /// The second pull, and its requests.
    var idle: PullResult?
    var idleRequests = 0
    var quarantined: [QuarantinedRow] = []
    var reconcile: Result<ReconcileResult, SluiceError>?
    /// The number of rows in memory, and the server's count before and after; nil where it has none.
    var rows = 0
    var counts: [Int?] = []
    /// Whether the service keeps no time of change that is known.
    var hasNoTimes = false
    /// Two names of one record's properties that are equal but for case or normalisation.
    var twins: [PropertyName] = []
    /// A column that seems to hold the time of change, for a service that needs to be told.
    var candidate: PropertyName?

    var findings: [ProbeFinding] {
        var found: [ProbeFinding] = []
        if case .failure(let error)? = first { found.append(ProbeFinding(.pullFails, "a pull ends: \(error.message)")) }
        for reason in (first?.probed?.reasons ?? []) + (idle?.reasons ?? []) {
            switch reason {
            case .noFixedOrder: found.append(ProbeFinding(.tiesShuffled, reason.description))
            case .timesMisread: found.append(ProbeFinding(.timesMisread, reason.description))
            case .skipRefused: found.append(ProbeFinding(.skipRefused, reason.description))
            case .clockWasSet: found.append(ProbeFinding(.clockSet, reason.description))
            case .otherUser: break
            }
        }
        if grade == .full, !hasNoTimes, found.isEmpty {
            found.append(ProbeFinding(.orderIgnored, "a pull by time could not follow the rows, and read all of them"))
        }
        if let row = quarantined.first {
            found.append(ProbeFinding(.rowsUnfit, "\(row.recordID?.text ?? "a row") cannot be stored: \(row.reason)"))
        }
        if twins.count > 1 {
            let names = twins.map { JSON($0.text).description }.joined(separator: " and ")
            found.append(ProbeFinding(.namesTwins, "a row has the properties \(names)"))
        }
        if let idle, idle.brought > 0 {
            found.append(ProbeFinding(.pullNeverSettles, "a second pull brings \(idle.brought.counted("row")) again"))
        }
        return found + compared
    }

    private var compared: [ProbeFinding] {
        var found: [ProbeFinding] = []
        switch reconcile {
        case .success(let result)? where result.stored + result.removed > 0:
            let way = result.usedDigest ? "by digest" : "by a list of ids and versions"
            found.append(
                ProbeFinding(
                    .reconcileDiffers,
                    "right after a pull a comparison \(way) removes \(result.removed) and brings \(result.stored)"))
        case .failure(let error)?:
            found.append(ProbeFinding(.reconcileDiffers, "a comparison after the pull ends: \(error.message)"))
        default: break
        }
        if let count = counts.first ?? nil, counts.allSatisfy({ $0 == count }), idle != nil, count != rows {
            found.append(ProbeFinding(.countWrong, "the server counts \(count), and has \(rows.counted("row"))"))
        }
        return found
    }

    var facts: [(subject: String, text: String)] {
        guard let grade else { return [] }
        var facts = [("pull", "grade \(grade.rawValue): \(why(grade))")]
        if idle != nil {
            facts.append(("pull", "the first took \(requests.counted("request")), one without news \(idleRequests)"))
        } else if first == nil {
            facts.append(("pull", "ended after \(rows.counted("row")) and \(requests.counted("request")), as told"))
        }
        if case .success(let result)? = reconcile {
            facts.append(("reconcile", result.usedDigest ? "by digests" : "by a list of all ids and versions"))
        }
        return facts
    }

    private func why(_ grade: PullResult.Grade) -> String {
        switch grade {
        case .changeTokens: return "the server gives change tokens"
        case _ where hasNoTimes:
            let hint = candidate.map { "; \($0) may be one: updated-at" } ?? ""
            return "the service gives no delta links, and no time of change is known\(hint)"
        case .keyset: return "it sorts rows of one time by id, and compares times as it writes them"
        case .timestamps: return "it sorts by time; that it sorts rows of one time by id was not seen"
        default: return "its changes cannot be followed"
        }
    }
}

extension ProbeSession {
    /// The name under which the trial pulls.
    static let queryName = "probe"

    /// A context over a store in memory, with the bounds of a probe.
    func context(pageSize: Int = ProbePage.wanted, batchSize: Int? = nil) async throws -> SyncContext {
        var options = SyncOptions(pageSize: pageSize, dialect: dialect, environment: environment)
        options.batchSize = batchSize
        options.pull.maximumRows = self.options.bounds.rows
        options.pull.maximumPages = max(10, self.options.bounds.rows / 10)
        return try await SyncContext(client: client, store: MemoryStore(), options: options)
    }

    /// Pulls the table into memory, twice, and compares.
    func pull(_ rows: RowsSeen, _ report: inout ProbeReport) async throws {
        let context = try await context()
        let query = TableQuery(table)
        var seen = PullSeen()
        seen.counts = [try await count()]
        var before = wire.seen.requests
        do {
            seen.first = .success(try await context.pull(query, named: Self.queryName))
        } catch let error as SluiceError {
            try check(error)
            if error.code != .limitReached { seen.first = .failure(error) }
        }
        seen.requests = wire.seen.requests - before
        seen.quarantined = try await context.quarantine()
        seen.rows = try await context.store.read { [table] in try $0.count(matching: TableQuery(table)) }
        let system = dialect.columns.all
        seen.twins = try await context.store.read { [table] in
            try $0.records(matching: TableQuery(table)).prefix(ProbePage.wanted).lazy.map {
                Self.twins(in: $0, besides: system)
            }.first { !$0.isEmpty }
                ?? []
        }
        if case .success? = seen.first {
            before = wire.seen.requests
            seen.idle = try? await context.pull(query, named: Self.queryName)
            seen.idleRequests = wire.seen.requests - before
            seen.rows = try await context.store.read { [table] in try $0.count(matching: TableQuery(table)) }
            seen.counts.append(try await count())
            do {
                seen.reconcile = .success(try await context.reconcile(query, named: Self.queryName))
            } catch let error as SluiceError {
                try check(error)
                seen.reconcile = .failure(error)
            }
        }
        seen.grade = try await context.status().cursors.first?.grade ?? seen.first?.probed?.grade
        seen.hasNoTimes = isService && !rows.page.rows.contains { $0.updatedAt != nil }
        seen.candidate = set.flatMap(Self.timeOfChange)
        report.grade = seen.grade
        if seen.grade != .changeTokens, seen.hasNoTimes, let column = seen.candidate {
            report.proposal.set.append(("updated-at", ProbeSettings.quoted(column.text)))
        }
        report.add(seen)
    }

    /// Names of a record's properties that one who folds letters takes for one.
    private static func twins(in record: JSON, besides system: Set<PropertyName>) -> [PropertyName] {
        let forms = Dictionary(grouping: record.names.filter { !system.contains($0) }) { RowsSeen.folded($0.text) }
        return forms.values.first { $0.count > 1 }?.sorted() ?? []
    }

    private func count() async throws -> Int? {
        try await list { ($0.top, $0.includesCount, $0.includesDeleted) = (1, true, false) }.probed?.count
    }

    /// The property of a set that seems to hold the time of a row's last change, by its type and its name.
    private static func timeOfChange(_ set: EntitySet) -> PropertyName? {
        set.types.filter { [.dateTime, .dateTimeOffset].contains($0.value) }.map(\.key).sorted().first { name in
            ["chang", "modif", "updat"].contains { name.text.lowercased().contains($0) }
        }
    }
}
