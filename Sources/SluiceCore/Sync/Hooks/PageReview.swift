internal import Logging

/// What hooks have made of a page's rows.
package struct RevisedRows: Sendable {
    /// The rows that are not to be stored, by their place in the page.
    var dropped: Set<Int> = []
    /// The rows that were changed, as a page of their own.
    var page: RowPage?
    /// Where in that page the changed rows stand, by their place in the one that came.
    var places: [Int: Int] = [:]

    /// Those rows as the store takes them: the page's own from its bytes, and the changed ones.
    func selections(of rows: [Int], in came: RowPage) -> [RowPage.Selection] {
        guard let page else { return [.init(came, rows)] }
        let changed = rows.compactMap { places[$0] }
        return [.init(came, rows.filter { places[$0] == nil }), .init(page, changed)].filter { !$0.indices.isEmpty }
    }
}

/// Has hooks look at the rows of a page, outside of any transaction.
struct PageReview {
    let chain: HookChain
    let dialect: Dialect
    let logger: Logger
    private let page: RowPage
    private let queryName: String?
    /// The id, and what else only the server sets.
    private let serverColumns: [String]
    private var rows: [Row] = []
    private var revised = RevisedRows()

    private struct Row: Sendable {
        var place: Int
        var row: PulledRow
        var isChanged = false
    }

    init(_ commit: PageCommit, chain: HookChain, dialect: Dialect, logger: Logger) {
        self.chain = chain
        self.dialect = dialect
        self.logger = logger
        page = commit.page
        queryName = commit.cursor?.owner.name
        serverColumns = [dialect.columns.id] + dialect.pushColumns.system.sorted()
        rows = PageRows(commit.page, commit.rows).fit.map { place in
            let row = page.rows[place]
            return Row(
                place: place,
                row: PulledRow(
                    id: row.id, version: row.version, updatedAt: row.updatedAt,
                    isTombstone: row.isDeleted || row.leftQuery, record: page.record(at: place)))
        }
    }

    /// - Throws: ``SluiceError`` of code `hookFailed`.
    mutating func carryOut() async throws(SluiceError) -> RevisedRows {
        for hook in chain.hooks where !rows.isEmpty {
            let shown = PulledPage(table: chain.table, queryName: queryName, rows: rows.map(\.row))
            let decisions = try await chain.ask(hook) { try await $0.afterPull(shown) }
            guard decisions.count == rows.count else {
                throw chain.broken(hook, "\(decisions.count) decisions for \(rows.count) rows")
            }
            try take(decisions, of: hook)
        }
        let changed = rows.filter(\.isChanged)
        if !changed.isEmpty {
            revised.page = try RowPage(
                records: changed.map(\.row.record), columns: dialect.columns, table: chain.table)
            for (index, row) in changed.enumerated() { revised.places[row.place] = index }
        }
        return revised
    }

    private mutating func take(_ decisions: [PulledRowDecision], of hook: any SyncHook) throws(SluiceError) {
        var left: [Row] = []
        for (var row, decision) in zip(rows, decisions) {
            switch decision {
            case _ where row.row.isTombstone: break
            case .keep: break
            case .change(let record):
                let checked = try checked(record, row.row, hook)
                row.isChanged = row.isChanged || checked != row.row.record
                row.row.record = checked
            case .drop(let reason):
                revised.dropped.insert(row.place)
                logger.debug(
                    "row dropped",
                    metadata: [
                        "table": "\(chain.table)", "record": "\(row.row.id)", "hook": "\(hook.hookName)",
                        "reason": "\(reason)",
                    ])
                continue
            }
            left.append(row)
        }
        rows = left
    }

    /// The changed record, with what only the server sets as the server has it.
    private func checked(_ record: JSON, _ row: PulledRow, _ hook: any SyncHook) throws(SluiceError) -> JSON {
        guard record.kind == .object else {
            throw chain.broken(hook, "a changed row is a whole record", recordID: row.id)
        }
        var record = record
        for name in serverColumns {
            let value = row.record[name]
            guard let given = record[name] else {
                if let value { record[name] = value }
                continue
            }
            guard given == value ?? .null else {
                throw chain.broken(hook, "\(name) is the server's and cannot be changed", recordID: row.id)
            }
            if value == nil { record[name] = nil }
        }
        return record
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
