internal import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// Decides for one request, table by table, which store answers. The stores are those that were used when the request
/// began, so that a switch of the mode meanwhile changes nothing.
struct MixedReader: TableReader {
    let used: MixedStore.Used
    let schemas: StoreSchemas
    let uncovered: UncoveredPolicy

    func answer(_ read: TableRead, _ options: ReadOptions) async throws -> TableAnswer {
        switch used {
        case .none: throw MixedStore.unopened
        case .offline(let store): return try await store.answer(read, options)
        case .online(let store): return try await store.answer(read, options)
        case .both(let online, let offline):
            switch (online.isOpen, offline.isOpen) {
            case (false, false): throw MixedStore.unopened
            case (true, false): return try await online.answer(read, options)
            case (false, true): return try await offline.answer(read, options)
            case (true, true): return try await routed(read, options, online, offline)
            }
        }
    }

    private func routed(
        _ read: TableRead, _ options: ReadOptions, _ online: OnlineStore, _ offline: OfflineStore
    ) async throws -> TableAnswer {
        if read.table == ErrorArchive.name { return try await offline.answer(read, options) }
        try SyncTables.validate(read.table)
        let (asked, isAboutState) = try await StatePredicates(context: offline.context).resolved(read)
        if isAboutState { return try await offline.answer(read, options) }
        let (whole, finding) = try await offline.complete(asked)
        if let whole { return whole }
        do {
            return try await remote(asked, online, offline, finding.coverage)
        } catch let error as SluiceError where error.serviceIsAway {
            guard options.uncovered ?? uncovered == .partial else {
                throw OfflineStore.notCovered(asked.table, finding.coverage, cause: error)
            }
            return try await offline.local(
                asked, .localPartial, finding.asOf,
                ["\(finding.coverage)", "the service could not be reached (\(error.message))"])
        }
    }

    /// The service's answer, with what waits here laid over it.
    private func remote(
        _ read: TableRead, _ online: OnlineStore, _ offline: OfflineStore, _ coverage: Coverage
    ) async throws -> TableAnswer {
        let asOf = online.environment.now()
        let source = OverlaidSource(
            remote: OnlineSource(client: online.client, maximumRecords: online.maximumRecords),
            context: offline.context, schemas: schemas)
        let page = try await SetExecution(source: source, schemas: schemas).page(read)
        var reasons = ["\(coverage), so the service was asked"]
        let changes = source.findings.changes
        if changes > 0 { reasons.append("records with waiting changes are as they are here (\(changes))") }
        reasons += source.findings.refusals
        return TableAnswer(
            records: page.records, count: page.count,
            provenance: .init(changes > 0 ? .merged : .remote, asOf: asOf, reasons: reasons))
    }

    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID] {
        switch used {
        case .none, .online: []
        case .offline(let store): try await store.referring(to: id, along: reference)
        case .both(_, let offline): offline.isOpen ? try await offline.referring(to: id, along: reference) : []
        }
    }

    func isMadeHere(_ id: RecordID, in table: String) async throws -> Bool {
        switch used {
        case .none, .online: false
        case .offline(let store): try await store.isMadeHere(id, in: table)
        case .both(_, let offline): offline.isOpen ? try await offline.isMadeHere(id, in: table) : false
        }
    }

    func value(of call: OperationCall) async throws -> (JSON, StoreResult.Provenance) {
        switch used {
        case .none: throw MixedStore.unopened
        case .offline(let store): return try await store.value(of: call)
        case .online(let store): return try await store.value(of: call)
        case .both(let online, let offline):
            guard online.isOpen else { return try await offline.value(of: call) }
            return try await Self.reaching(call.name) { try await online.value(of: call) }
        }
    }

    /// Has a failure to reach the service say that only the service has the answer.
    static func reaching<Result>(_ name: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as SluiceError where error.serviceIsAway {
            throw SluiceError(
                .notAvailableOffline, "\(name) is the service's to answer, and the service cannot be reached",
                cause: error)
        }
    }
}

extension SluiceError {
    /// Whether the service was not reached: there is no way to it, or what stands before it says that it is away.
    var serviceIsAway: Bool {
        // Credentials, haste and too many requests are the server's own to report.
        code.isNetwork || (status.map { AnswerStatus.isPassing($0) && ![401, 425, 429].contains($0) } ?? false)
    }
}
