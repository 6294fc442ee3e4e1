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

    private func ask(_ hook: any SyncHook) async throws(SluiceError) -> [PulledRow.Decision] {
        let shown = PulledPage(table: chain.table, queryName: queryName, rows: rows)
        let decisions = try await chain.ask(hook) { try await $0.afterPull(shown) }
        guard decisions.count == rows.count else {
            throw chain.broken(hook, "\(decisions.count.counted("decision")) for \(rows.count.counted("row"))")
        }
        return decisions
    }

    private mutating func take(_ decisions: [PulledRow.Decision], of hook: any SyncHook) throws(SluiceError) {
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

/// The limits on a hook's changes to a server row.
struct RowRules {
    private let chain: AskedHooks
    /// The id and the system columns, which hooks may not change.
    private let serverColumns: [PropertyName]
    private let serverNames: [[UInt8]]

    init(_ chain: AskedHooks, _ dialect: Dialect) {
        self.chain = chain
        serverColumns = [dialect.columns.id] + dialect.pushColumns.system.sorted()
        serverNames = serverColumns.map { Array($0.text.utf8) }
    }

    /// Checks a changed record and returns it with the server's values of the system columns.
    func checked(_ record: JSON, _ row: PulledRow, _ hook: any SyncHook) throws(SluiceError) -> JSON {
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

    /// Checks changed members and returns them without the system columns; nil if none is left.
    func checked(members: JSON, _ row: PulledRow, _ hook: any SyncHook) throws(SluiceError) -> JSON? {
        guard members.kind == .object else {
            throw chain.broken(hook, "changed members are those of an object", recordID: row.id)
        }
        var isPlain = true
        var isGiven = false
        members.visitMembers { name, isContainer in
            isPlain = isPlain && !isContainer
            isGiven = isGiven || serverNames.contains { $0.count == name.count && $0.elementsEqual(name) }
        }
        guard isPlain || StoreRules.isShallow(members) else { throw tooDeep(row, hook) }
        if !isGiven { return members.count == 0 ? nil : members }
        var members = members
        for name in serverColumns {
            guard let given = members[name] else { continue }
            try check(given, name, row[name], row, hook)
            members[name] = nil
        }
        return members.count == 0 ? nil : members
    }

    private func check(
        _ given: JSON, _ name: PropertyName, _ value: JSON?, _ row: PulledRow, _ hook: any SyncHook
    ) throws(SluiceError) {
        guard given == value ?? .null else {
            throw chain.broken(hook, "\(name) is the server's and cannot be changed", recordID: row.id)
        }
    }

    private func tooDeep(_ row: PulledRow, _ hook: any SyncHook) -> SluiceError {
        chain.broken(hook, "the record nests deeper than \(JSON.maximumDepth) levels", recordID: row.id)
    }
}
