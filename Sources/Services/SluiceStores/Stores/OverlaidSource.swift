internal import SluiceBase
internal import SluiceSync
internal import Synchronization

/// The service as the source of a read, with queued changes applied: locally changed records appear in their local
/// state, and locally deleted ones do not appear.
///
/// The queued changes are read before the service is asked. A change that is sent in between is then laid over an
/// answer that has it already, which changes nothing; in the other order it could be missing from both.
struct OverlaidSource: RecordSource {
    let remote: any RecordSource
    let context: SyncContext
    let schemas: StoreSchemas
    /// The changes laid over answers so far.
    let findings = Findings()

    /// A record of the changes laid over answers.
    final class Findings: Sendable {
        private let state = Mutex<(changes: Int, refusals: [String])>((0, []))

        /// The number of records with queued changes.
        var changes: Int { state.withLock { $0.changes } }
        /// The reasons why changes could not be laid over.
        var refusals: [String] { state.withLock { $0.refusals } }

        fileprivate func add(changes: Int) { state.withLock { $0.changes += changes } }
        fileprivate func add(refusal: String) {
            state.withLock { if !$0.refusals.contains(refusal) { $0.refusals.append(refusal) } }
        }
    }

    /// The number of ids in one request to the service.
    private static let chunk = 40

    func page(_ query: TableQuery) async throws -> RecordPage {
        let waiting = try await waiting(in: query.table)
        guard !waiting.isEmpty else { return try await remote.page(query) }
        findings.add(changes: waiting.count)
        // Each queued change may take one record out of the page, so as many more are requested.
        var wider = query
        wider.skip = 0
        wider.top = query.top.map { top in
            let (sum, isTooMuch) = top.addingReportingOverflow(query.skip + waiting.count)
            return isTooMuch ? .max : sum
        }
        let evaluator = try TableQuery.Evaluator(query, schema: schemas[query.table])
        let isCountAlone = query.top == 0
        if isCountAlone { wider.top = 0 }
        let page = try await remote.page(wider)
        let local = waiting.values.compactMap { $0 }.filter(evaluator.matches)
        var merged = page.records.filter { record in record["id"]?.textID.map { waiting[$0] == nil } ?? true }
        if !local.isEmpty {
            // Both are sorted as one. A service with an order other than that of the ids keeps it, and the local
            // records follow.
            let sorting = try TableQuery.Evaluator(
                TableQuery(query.table, order: query.order), schema: schemas[query.table])
            if query.order.isEmpty, !Self.isByID(merged) {
                merged += sorting.apply(to: local)
            } else {
                merged = sorting.apply(to: merged + local)
            }
        }
        var count = page.count
        if query.includesCount, let all = page.count {
            count = try await all - matching(Array(waiting.keys), query) + local.count
        }
        let records = isCountAlone ? [] : Array(merged.dropFirst(query.skip).prefix(query.top ?? .max))
        return RecordPage(records: records, count: count)
    }

    func record(_ id: RecordID, in table: String) async throws -> JSON? {
        if let here = try await waiting(in: table, id)[id] {
            findings.add(changes: 1)
            return here
        }
        return try await remote.record(id, in: table)
    }

    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID] {
        try await context.waiting(in: reference.table, with: id, in: reference.targetColumn)
    }

    func holds(_ id: RecordID, in table: String) async throws -> Bool {
        (try await waiting(in: table, id)[id] ?? nil) != nil
    }

    func page(_ options: ODataOptions, of table: String) async throws -> RecordPage? {
        let page = try await remote.page(options, of: table)
        if try await !waiting(in: table).isEmpty {
            findings.add(refusal: "changes of \(table) that wait are not laid over what only the service can compute")
        }
        return page
    }

    private static func isByID(_ records: [JSON]) -> Bool {
        let ids = records.compactMap { $0["id"]?.textID }
        return ids.count == records.count && zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// Returns the local state of records with queued changes; nil for those that were deleted locally.
    private func waiting(in table: String, _ id: RecordID? = nil) async throws -> [RecordID: JSON?] {
        let operations = try await context.queue.operations(TableOperation.Filter(table: table, recordID: id))
        if operations.isEmpty { return [:] }
        let ids = Set(operations.map(\.recordID))
        return try await context.store.read { store in
            var records: [RecordID: JSON?] = [:]
            for id in ids { records.updateValue(try store.record(id, in: table), forKey: id) }
            return records
        }
    }

    /// Returns the number of the service's records with those ids that match the query.
    private func matching(_ ids: [RecordID], _ query: TableQuery) async throws -> Int {
        var found = 0
        var rest = ids.sorted()[...]
        while !rest.isEmpty {
            var asked = TableQuery(query.table, filter: query.filter)
            asked = asked.where(TableQuery.Term(.membership(.column("id"), rest.prefix(Self.chunk).map { .id($0) })))
            found += try await remote.page(asked).records.count
            rest = rest.dropFirst(Self.chunk)
        }
        return found
    }
}
