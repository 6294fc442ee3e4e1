internal import Logging
internal import SluiceBase
internal import SluiceWire

/// The rows of a page as changed by hooks.
struct RevisedRows: Sendable {
    /// The rows that are not stored, by their index in the page.
    var dropped: Set<Int> = []
    /// The page with the hooks' changes.
    var page: RowPage
    /// The page's rows, sorted before the hooks' changes.
    let sorted: PageRows
}

/// Passes the rows of a page to the hooks, outside of any transaction.
struct PageReview {
    let chain: AskedHooks
    let logger: Logger
    private let queryName: String?
    private let rules: RowRules
    /// The rows shown to hooks, and their indexes in the page.
    private var rows: [PulledRow]
    private var places: [Int]
    private var revised: RevisedRows

    init(_ commit: PageCommit, chain: AskedHooks, dialect: Dialect, logger: Logger) {
        self.chain = chain
        self.logger = logger
        queryName = commit.cursor?.owner.name
        rules = RowRules(chain, dialect)
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
            throw chain.broken(hook, "\(decisions.count.counted("decision")) for \(rows.count.counted("row"))")
        }
        return decisions
    }

    private mutating func take(_ decisions: [PulledRowDecision], of hook: any SyncHook) throws(SluiceError) {
        let rules = rules
        var dropped: Set<Int> = []
        for (index, decision) in decisions.enumerated() where !rows[index].isTombstone {
            switch decision {
            case .keep: break
            case .set(let members):
                if let members = try rules.checked(members: members, rows[index], hook) { rows[index].set(members) }
            case .change(let record):
                let checked = try rules.checked(record, rows[index], hook)
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
}

extension RowExchange {
    /// Returns the page after the hooks' decisions.
    func reviewed(_ commit: PageCommit) async throws(SluiceError) -> PageCommit {
        guard !commit.rows.isEmpty, let chain = AskedHooks(options.hooks, .afterPull, table: commit.table) else {
            return commit
        }
        var review = PageReview(commit, chain: chain, dialect: client.dialect, logger: options.logger)
        var commit = commit
        commit.revised = try await review.carryOut()
        return commit
    }
}
