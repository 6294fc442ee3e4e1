internal import Logging

/// What hooks have made of a page's rows.
package struct RevisedRows: Sendable {
    /// The rows that are not to be stored, by their place in the page.
    var dropped: Set<Int> = []
    /// The page with what hooks have made of its rows.
    var page: RowPage
    /// The page's rows, sorted as they came.
    let sorted: PageRows
}

/// Has hooks look at the rows of a page, outside of any transaction.
struct PageReview {
    let chain: HookChain
    let logger: Logger
    private let queryName: String?
    /// The id, and what else only the server sets.
    private let serverColumns: [String]
    /// The rows that are shown, and their places in the page.
    private var rows: [PulledRow]
    private var places: [Int]
    private var revised: RevisedRows

    init(_ commit: PageCommit, chain: HookChain, dialect: Dialect, logger: Logger) {
        self.chain = chain
        self.logger = logger
        queryName = commit.cursor?.owner.name
        serverColumns = [dialect.columns.id] + dialect.pushColumns.system.sorted()
        let text = PulledText(commit.page)
        revised = RevisedRows(page: commit.page, sorted: PageRows(commit.page, commit.rows))
        places = revised.sorted.fit
        rows = places.map { PulledRow(text, $0) }
    }

    /// - Throws: ``SluiceError`` of code `hookFailed`.
    mutating func carryOut() async throws(SluiceError) -> RevisedRows {
        for hook in chain.hooks where !rows.isEmpty {
            try take(try await ask(hook), of: hook)
        }
        if rows.contains(where: { $0.revision != nil }) {
            var revisions = [RowPage.Revision?](repeating: nil, count: revised.page.rows.count)
            for (place, row) in zip(places, rows) { revisions[place] = row.revision }
            revised.page = revised.page.revised(revisions)
        }
        return revised
    }

    private func ask(_ hook: any SyncHook) async throws(SluiceError) -> [PulledRowDecision] {
        let shown = PulledPage(table: chain.table, queryName: queryName, rows: rows)
        let decisions = try await chain.ask(hook) { try await $0.afterPull(shown) }
        guard decisions.count == rows.count else {
            throw chain.broken(hook, "\(decisions.count) decisions for \(rows.count) rows")
        }
        return decisions
    }

    private mutating func take(_ decisions: [PulledRowDecision], of hook: any SyncHook) throws(SluiceError) {
        var dropped: Set<Int> = []
        for (index, decision) in decisions.enumerated() where !rows[index].isTombstone {
            switch decision {
            case .keep: break
            case .set(let members):
                if let members = try checked(members: members, rows[index], hook) { rows[index].set(members) }
            case .change(let record):
                let checked = try checked(record, rows[index], hook)
                if checked != rows[index].record { rows[index].record = checked }
            case .drop(let reason):
                dropped.insert(index)
                logger.debug(
                    "row dropped",
                    metadata: [
                        "table": "\(chain.table)", "record": "\(rows[index].id)", "hook": "\(hook.hookName)",
                        "reason": "\(reason)",
                    ])
            }
        }
        if dropped.isEmpty { return }
        revised.dropped.formUnion(dropped.map { places[$0] })
        let left = rows.indices.filter { !dropped.contains($0) }
        (rows, places) = (left.map { rows[$0] }, left.map { places[$0] })
    }

    /// The changed record, with what only the server sets as the server has it.
    private func checked(_ record: JSON, _ row: PulledRow, _ hook: any SyncHook) throws(SluiceError) -> JSON {
        guard record.kind == .object else {
            throw chain.broken(hook, "a changed row is a whole record", recordID: row.id)
        }
        guard StoreRules.isShallow(record) else { throw tooDeep(row, hook) }
        var record = record
        for name in serverColumns {
            let value = row[name]
            guard let given = record[name] else {
                if let value { record[name] = value }
                continue
            }
            try check(given, name, value, row, hook)
            if value == nil { record[name] = nil }
        }
        return record
    }

    /// The changed members without what only the server sets; nil if nothing is left.
    private func checked(members: JSON, _ row: PulledRow, _ hook: any SyncHook) throws(SluiceError) -> JSON? {
        guard members.kind == .object else {
            throw chain.broken(hook, "changed members are those of an object", recordID: row.id)
        }
        var isShallow = true
        var given: [String] = []
        members.forEachMember { name, value in
            isShallow = isShallow && StoreRules.isShallow(value, JSON.maximumDepth - 1)
            if let column = serverColumns.first(where: { $0.utf8.elementsEqual(name) }) { given.append(column) }
        }
        guard isShallow else { throw tooDeep(row, hook) }
        if given.isEmpty { return members.count == 0 ? nil : members }
        var members = members
        for name in given {
            try check(members[name] ?? .null, name, row[name], row, hook)
            members[name] = nil
        }
        return members.count == 0 ? nil : members
    }

    private func check(
        _ given: JSON, _ name: String, _ value: JSON?, _ row: PulledRow, _ hook: any SyncHook
    ) throws(SluiceError) {
        guard given == value ?? .null else {
            throw chain.broken(hook, "\(name) is the server's and cannot be changed", recordID: row.id)
        }
    }

    private func tooDeep(_ row: PulledRow, _ hook: any SyncHook) -> SluiceError {
        chain.broken(hook, "the record nests deeper than \(JSON.maximumDepth) levels", recordID: row.id)
    }
}

extension RowExchange {
    /// The page as the hooks leave it.
    func reviewed(_ commit: PageCommit) async throws(SluiceError) -> PageCommit {
        guard !commit.rows.isEmpty, let chain = HookChain(options.hooks, .afterPull, table: commit.table) else {
            return commit
        }
        var review = PageReview(commit, chain: chain, dialect: client.dialect, logger: options.logger)
        var commit = commit
        commit.revised = try await review.carryOut()
        return commit
    }
}
