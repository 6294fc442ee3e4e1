internal import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// The rows by time, and the answers to the questions that a pull by time asks about one of them.
struct TimesSeen: ProbeObservation {
    typealias Answer = ProbeSession.Answer<ProbePage>

    /// The rows by time and id, twice.
    var rows: ProbePage
    var again: ProbePage?
    /// The rows by time and id, the last first.
    var newest: Answer
    /// The row that the questions are about.
    var row: RowPage.Row
    /// The rows of its time or a later one; those behind it; and itself.
    var since: Answer
    var behind: Answer
    var itself: Answer
    /// The engine's question about rows of one time, and the answer; nil where no four rows share one.
    var ties: (check: TieCheck, answer: Answer)?
    /// The rows without a time.
    var untimed: Answer
    /// Whether pulls follow change tokens, so that nothing is found by its time.
    var hasTokens = false

    var findings: [ProbeFinding] { (hasTokens ? [] : following) + values }

    /// The faults that only pulls by time meet.
    private var following: [ProbeFinding] { order + tied + filters }

    private var order: [ProbeFinding] {
        let times = rows.rows.compactMap { $0.updatedAt.flatMap { Timestamp($0) } }
        var check = SortCheck()
        let isUnsorted = zip(times, times.dropFirst()).contains { $0 > $1 }
        guard isUnsorted || check.failed(by: (try? newest.get()).map { PullPage(rows: $0.rows) }) else { return [] }
        return [ProbeFinding(.orderIgnored, "rows do not come in the order of their times")]
    }

    private var tied: [ProbeFinding] {
        if let again, again.ids != rows.ids, again.ids.count == rows.ids.count, Set(again.ids) == Set(rows.ids),
            again.rows.map(\.updatedAt) == rows.rows.map(\.updatedAt)
        {
            return [ProbeFinding(.tiesShuffled, "rows of one time come in another order the second time")]
        }
        let page = PullPage(rows: rows.rows)
        if page.isUniform(), !page.sortsTies {
            return [ProbeFinding(.tiesUnsorted, "rows of one time do not come in the order of their ids")]
        }
        guard let ties, case .success(let answer) = ties.answer, !ties.check.isProven(by: PullPage(rows: answer.rows))
        else { return [] }
        return [
            ProbeFinding(
                .tiesUnsorted,
                "rows of the time \(ties.check.time), asked for downwards by id, are \(RowsSeen.names(answer.ids))")
        ]
    }

    private var filters: [ProbeFinding] {
        let time = row.updatedAt ?? ""
        if case .failure(let error) = since {
            return [ProbeFinding(.filterRefused, "a filter by time is refused: \(error.message)")]
        }
        if case .success(let since) = since, !since.ids.contains(row.id), since.rows.count < ProbePage.wanted,
            case .success(let itself) = itself, itself.rows.first?.updatedAt == time
        {
            return [
                ProbeFinding(.timesMisread, "\(row.id.text) has the time \(time), but is not among the rows since then")
            ]
        }
        if case .success(let since) = since,
            let early = since.rows.first(where: { early in
                (early.updatedAt.flatMap { Timestamp($0) }).map { early in Timestamp(time).map { early < $0 } ?? false }
                    ?? false
            })
        {
            return [
                ProbeFinding(.filterIgnored, "the filter for rows since \(time) brings one of \(early.updatedAt ?? "")")
            ]
        }
        guard case .success(let behind) = behind, behind.ids.contains(row.id) else { return [] }
        return [
            ProbeFinding(
                .timesRounded,
                "\(row.id.text) is written with the time \(time), but is found among the rows after it")
        ]
    }

    private var values: [ProbeFinding] {
        var found: [ProbeFinding] = []
        if case .success(let untimed) = untimed, let first = untimed.rows.first, first.updatedAt == nil {
            found.append(ProbeFinding(.rowsUntimed, "rows have no time of change: \(RowsSeen.names(untimed.ids))"))
        }
        if case .success(let newest) = newest, let date = newest.date,
            let last = newest.rows.compactMap({ $0.updatedAt.flatMap { Timestamp($0) } }).max(),
            last.ticks > date.ticks + CursorCeiling.tolerance
        {
            found.append(
                ProbeFinding(.timesAhead, "the newest row has the time \(last), the server's clock shows \(date)"))
        }
        if let text = rows.rows.compactMap(\.updatedAt).first(where: { !Self.hasZone($0) }) {
            found.append(ProbeFinding(.timesZoneless, "the time \(text) has no zone"))
        }
        return found
    }

    private static func hasZone(_ text: String) -> Bool {
        let clock = text.split(separator: "T").last ?? ""
        return text.hasSuffix("Z") || text.hasSuffix("z") || clock.contains("+") || clock.contains("-")
    }

    var facts: [(subject: String, text: String)] {
        let digits =
            rows.rows.compactMap(\.updatedAt).map { text in
                text.split(separator: ".").dropFirst().first?.prefix { $0.isNumber }.count ?? 0
            }.max() ?? 0
        var facts = [("times", "written with \(digits.counted("digit")) of a second")]
        if hasTokens {
            facts += following.map { ("times", "\($0.seen); no pull is by time here") }
            return facts
        }
        if ties == nil { facts.append(("ties", "no four rows of one time were seen, so their order is not known")) }
        if case .failure(let error) = untimed {
            facts.append(("times", "the question for rows without a time is refused: \(error.message)"))
        }
        return facts
    }
}

extension ProbeSession {
    /// Looks at times, where rows have them.
    func times(_ report: inout ProbeReport) async throws {
        guard case .success(let rows) = try await pulled(.start) else { return }
        let timed = rows.rows.filter { row in
            !row.isUnfit && (row.updatedAt.flatMap { Timestamp($0) }) != nil
        }
        guard !timed.isEmpty else { return }
        // The rows up to the end of the longest group of one time, or else up to the middle.
        let groups = Dictionary(grouping: timed.indices) { timed[$0].updatedAt ?? "" }
        let longest =
            groups.values.max { one, other in
                one.count == other.count ? (one.last ?? 0) > (other.last ?? 0) : one.count < other.count
            } ?? []
        let place = longest.count > 1 ? longest[longest.count / 2] : timed.count / 2
        let row = timed[place]
        let time = row.updatedAt ?? ""
        var ties: (TieCheck, Answer<ProbePage>)?
        if let end = longest.last,
            let check = TieCheck(PullPage(rows: Array(timed[...end])), pageSize: ProbePage.wanted)
        {
            ties = (check, try await pulled(check.request.position, top: check.request.top))
        }
        let seen = TimesSeen(
            rows: ProbePage(rows: timed, date: rows.date), again: try await pulled(.start).probed,
            newest: try await pulled(SortCheck().request.position), row: row,
            since: try await pulled(.changedSince(time)), behind: try await pulled(.after(time: time, id: row.id)),
            itself: try await pulled(.row(row.id)), ties: ties,
            untimed: try await pulled(.withoutTime(behindID: nil), top: 2),
            hasTokens: report.grade == .changeTokens)
        report.add(seen)
    }
}

extension Result {
    /// The value; nil for a failure.
    var probed: Success? { try? get() }
}
