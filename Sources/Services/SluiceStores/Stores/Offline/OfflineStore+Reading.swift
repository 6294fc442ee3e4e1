public import SluiceBase
internal import SluiceSync

extension OfflineStore: TableReader {
    func answer(_ read: TableRead, _ options: ReadOptions) async throws -> TableAnswer {
        try state.require()
        if read.table == ErrorArchive.name { return try await archived(read) }
        // The service does not have the engine's own tables.
        try SyncTables.validate(read.table)
        let (asked, isAboutState) = try await StatePredicates(context: context).resolved(read)
        let (whole, finding) = try await complete(asked)
        if let whole { return whole }
        if isAboutState {
            return try await local(
                asked, .localComplete, finding.asOf, ["what the request asks about is known on this device alone"])
        }
        guard options.uncovered ?? self.options.uncovered == .partial else {
            throw Self.notCovered(asked.table, finding.coverage)
        }
        return try await local(asked, .localPartial, finding.asOf, finding.coverage.reasons)
    }

    /// Returns the whole answer if the store has it; else the reasons why not.
    ///
    /// A defining request may be removed, or records be purged, during a read. So the finding is checked again
    /// afterwards.
    func complete(_ read: TableRead) async throws -> (TableAnswer?, OfflineCoverage.Finding) {
        let finding = try await finding(for: read)
        guard finding.coverage.isCovered else { return (nil, finding) }
        let links = try await links(of: read, finding)
        let answer = try await local(read, .localComplete, finding.asOf, finding.coverage.reasons, links)
        if let missing = links?.missing {
            var partial = finding
            partial.coverage = .uncovered(because: [missing], example: nil)
            return (nil, partial)
        }
        let after = try await self.finding(for: read)
        return after.coverage.isCovered ? (answer, finding) : (nil, after)
    }

    /// Returns the watcher for the links of an answer that expansions prove. It has already checked the link that leads
    /// to the answer.
    private func links(of read: TableRead, _ finding: OfflineCoverage.Finding) async throws -> LinkGuard? {
        guard case .covered(let names, _) = finding.coverage, let coverage = finding.by else { return nil }
        let links = LinkGuard(context, coverage, names)
        if let owner = finding.owner, let outer = read.asExpansion, let item = outer.options.expand.first {
            let reference = try schemas.reference(item.name ?? "", of: outer.table)
            let values = LinkValue(owner, along: reference).map { [$0] } ?? []
            try await links.follow(item, reference, from: outer.table, at: "/\(reference.name.text)", values)
        }
        return links
    }

    /// Returns the answer from the local records.
    func local(
        _ read: TableRead, _ source: StoreResult.Source, _ asOf: Timestamp?, _ reasons: [String],
        _ links: LinkGuard? = nil
    ) async throws -> TableAnswer {
        try state.require()
        let execution = SetExecution(source: LocalSource(context), schemas: schemas, links: links)
        let page = try await execution.page(read)
        return TableAnswer(
            records: page.records, count: page.count, provenance: .init(source, asOf: asOf, reasons: reasons))
    }

    /// Reads the archive of errors as a table.
    private func archived(_ read: TableRead) async throws -> TableAnswer {
        let records = try await errors.all().map(\.json)
        let execution = SetExecution(source: ListSource(records: records), schemas: schemas)
        let page = try await execution.page(read)
        return TableAnswer(
            records: page.records, count: page.count,
            provenance: .init(
                .localComplete, asOf: context.options.environment.now(), reasons: ["the errors are kept on this device"]
            ))
    }

    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID] {
        try await context.waiting(in: reference.table, with: id, in: reference.targetColumn)
    }

    func isMadeHere(_ id: RecordID, in table: String) async throws -> Bool {
        try await context.queue.operations(TableOperation.Filter(table: table, recordID: id)).contains {
            $0.kind == .insert
        }
    }

    func value(of call: OperationCall) async throws -> (JSON, StoreResult.Provenance) {
        try state.require()
        throw Self.notAvailable(call.name)
    }

    /// Throws, because a function has no answer without its service.
    public func call(_ operation: OperationCall) async throws -> JSON {
        try state.require()
        throw Self.notAvailable(operation.name)
    }

    /// Throws, because media streams are not stored.
    public func media(_ address: String) async throws -> [UInt8] {
        try state.require()
        throw Self.notAvailable(address)
    }

    static func notAvailable(_ name: String) -> SluiceError {
        SluiceError(.notAvailableOffline, "\(name) is the service's to answer, and the service is not asked offline")
    }

    static func notCovered(_ table: String, _ coverage: Coverage, cause: (any Error)? = nil) -> SluiceError {
        SluiceError(
            .notCovered, "no defining request holds all that the read asks for (\(coverage)); add one to the store",
            table: table, cause: cause)
    }
}

/// Records in memory as the source of a read.
struct ListSource: RecordSource {
    let records: [JSON]

    func page(_ query: TableQuery) async throws -> RecordPage {
        let evaluator = try TableQuery.Evaluator(query, schema: nil)
        return RecordPage(
            records: evaluator.apply(to: records).map { $0 },
            count: query.includesCount ? records.count { evaluator.matches($0) } : nil)
    }

    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID] { [] }
    func holds(_ id: RecordID, in table: String) async throws -> Bool { false }
    func record(_ id: RecordID, in table: String) async throws -> JSON? { records.first { $0["id"]?.textID == id } }
    func page(_ options: ODataOptions, of table: String) async throws -> RecordPage? { nil }
}

/// The local store as the source of a read.
struct LocalSource: RecordSource {
    let context: SyncContext
    private var store: any LocalStore { context.store }

    init(_ context: SyncContext) { self.context = context }

    func page(_ query: TableQuery) async throws -> RecordPage {
        var query = query
        // Reads whole records: the selection is made afterwards.
        query.select = []
        let asked = query
        return try await store.read { reader in
            let records = asked.top == 0 ? [] : try reader.records(matching: asked)
            return RecordPage(records: records, count: asked.includesCount ? try reader.count(matching: asked) : nil)
        }
    }

    func record(_ id: RecordID, in table: String) async throws -> JSON? {
        try await store.read { try $0.record(id, in: table) }
    }

    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID] {
        try await context.waiting(in: reference.table, with: id, in: reference.targetColumn)
    }

    func holds(_ id: RecordID, in table: String) async throws -> Bool { try await record(id, in: table) != nil }
    func page(_ options: ODataOptions, of table: String) async throws -> RecordPage? { nil }
}
