internal import SluiceBase
internal import SluiceSync

/// Decides which delta tokens of an old store this store goes on from.
///
/// An old token is a time up to which the server's changes were read. It is safe where the query's text is known to be
/// the old one: the application says so by configuring a query of that name. The position then is one by time of change,
/// of which every pull finds out itself whether the server can do more.
struct TokenAdoption {
    private(set) var positions: [StoreAdoption.Position] = []
    private(set) var tokens: [AdoptionReport.Token] = []

    /// - Parameter commitLag: the time by which commits may come late.
    init(
        _ queue: OldQueue, _ mapper: TableMapper, _ options: AdoptionOptions, _ rows: RowSurvey, _ commitLag: Duration
    ) {
        for token in queue.tokens {
            let (table, query) = Self.parts(of: token, mapper)
            let map = mapper.map(table)
            func note(_ reason: String, startsAt: Timestamp? = nil) {
                tokens.append(
                    .init(table: map?.name ?? table, query: query, time: token.time, startsAt: startsAt, reason: reason)
                )
            }
            guard let time = token.time else {
                note("nothing was pulled by this query")
                continue
            }
            guard let map else {
                note("the old store has no such table")
                continue
            }
            let pulls = options.queries.filter { pull in
                let isWhole = pull.query.filter == nil && pull.query.parameters.isEmpty
                return pull.query.table == map.name && pull.name != nil && (query.map { $0 == pull.name } ?? isWhole)
            }
            if pulls.isEmpty {
                note("no query of that name is configured for the table, so the old one's text is not known")
            }
            // Rows that were committed late may be missing before the old time, as before a saved time of one's own.
            let start = time.advanced(by: .zero - commitLag - token.slack)
            for pull in pulls {
                positions.append(
                    .init(
                        query: pull.query, name: pull.name ?? "", time: start, recheck: rows.unversioned[map.name] ?? []
                    ))
                note("by time of change, as the query \(pull.name ?? "")", startsAt: start)
            }
        }
    }

    /// Returns the table and the query's id of a token. If nothing tells them apart, the table is the longest one that
    /// the token begins with.
    private static func parts(of token: OldToken, _ mapper: TableMapper) -> (table: String, query: String?) {
        guard token.isJoined else { return (token.table, token.query) }
        let folded = token.table.lowercased()
        let tables = mapper.maps.map(\.name).filter { folded.hasPrefix($0.lowercased() + "_") }
        guard let table = tables.max(by: { $0.utf8.count < $1.utf8.count }) else { return (token.table, nil) }
        return (table, String(token.table.utf8.dropFirst(table.utf8.count + 1)))
    }
}
