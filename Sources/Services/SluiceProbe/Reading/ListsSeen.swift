internal import SluiceBase
internal import SluiceOData
internal import SluiceSync
internal import SluiceWire

/// The answers to `$orderby`, `$top`, `$skip`, `$filter` and a count.
struct ListsSeen: ProbeObservation {
    typealias Answer = ProbeSession.Answer<ProbePage>

    /// The rows by id.
    var ascending: ProbePage
    var descending: Answer
    /// With `$top=1`.
    var one: Answer
    /// With `$skip=1` and `$top=2`.
    var skipped: Answer
    /// The row that single questions are about, the rows of its id, and those behind it.
    var row: RecordID
    var same: Answer
    var behind: Answer
    /// The rows of an id that is not there; nil where none could be asked for.
    var none: Answer?
    var counted: Answer

    var findings: [ProbeFinding] { order + parts + filters + count }

    private var order: [ProbeFinding] {
        let ids = ascending.ids
        switch descending {
        case .failure(let error): return [ProbeFinding(.orderIgnored, "$orderby is refused: \(error.message)")]
        case .success(let page):
            guard ids.count > 1, page.ids == ids else { return [] }
            return [
                ProbeFinding(.orderIgnored, "$orderby upwards and downwards brings the same rows in the same order")
            ]
        }
    }

    private var parts: [ProbeFinding] {
        var found: [ProbeFinding] = []
        if case .success(let page) = one, page.rows.count > 1 {
            found.append(ProbeFinding(.topIgnored, "$top=1 brings \(page.rows.count.counted("row"))"))
        }
        switch skipped {
        case .failure(let error): found.append(ProbeFinding(.skipRefused, "$skip is refused: \(error.message)"))
        case .success(let page):
            if ascending.rows.count > 1, page.ids.first == ascending.ids.first {
                found.append(ProbeFinding(.skipIgnored, "$skip=1 begins with the first row"))
            }
        }
        return found
    }

    private var filters: [ProbeFinding] {
        switch same {
        case .failure(let error): return [ProbeFinding(.filterRefused, "a filter by id is refused: \(error.message)")]
        case .success(let page):
            if let other = page.ids.first(where: { !$0.isSame(as: row) }) {
                return [ProbeFinding(.filterIgnored, "the filter for the id \(row.text) brings \(other.text)")]
            }
            if page.rows.isEmpty {
                return [ProbeFinding(.filterMisses, "the filter for the id \(row.text) brings nothing")]
            }
        }
        if case .success(let page)? = none, let other = page.ids.first {
            return [ProbeFinding(.filterIgnored, "the filter for an id that is not there brings \(other.text)")]
        }
        guard case .success(let page) = behind, let place = ascending.ids.firstIndex(of: row) else { return [] }
        let expected = ascending.ids[(place + 1)...]
        let found = page.ids.prefix(expected.count)
        guard !found.elementsEqual(expected), Set(ascending.ids).count == ascending.ids.count else { return [] }
        return [
            ProbeFinding(
                .idsComparedOtherwise,
                "sorted by id \(RowsSeen.names(Array(expected))) follow \(row.text), but greater than it are "
                    + RowsSeen.names(page.ids))
        ]
    }

    private var count: [ProbeFinding] {
        switch counted {
        case .failure(let error): [ProbeFinding(.countMissing, "the request for a count is refused: \(error.message)")]
        case .success(let page):
            page.count == nil ? [ProbeFinding(.countMissing, "the answer has no count, although it was asked for")] : []
        }
    }

    var facts: [(subject: String, text: String)] {
        guard case .success(let page) = counted, let count = page.count else { return [] }
        return [("count", "the server counts \(count.counted("row"))")]
    }
}

extension ProbeSession {
    /// The id of a row that no server has.
    static let noneID: RecordID = "sluice-probe-none"

    /// Whether the table's ids are texts of any kind.
    var takesAnyID: Bool { !isService || set?.singleKey?.type == .string }

    /// Looks at the effect of a list's parameters.
    func lists(_ rows: RowsSeen, _ report: inout ProbeReport) async throws {
        let page = rows.page
        let fit = page.rows.filter { !$0.isUnfit }
        guard !fit.isEmpty else { return }
        let row = fit[fit.count / 2].id
        let id = dialect.columns.id
        let seen = ListsSeen(
            ascending: page,
            descending: try await list { $0.order = [.init(id, descending: true)] },
            one: try await list { $0.top = 1 },
            skipped: try await list { ($0.top, $0.skip) = (2, 1) }, row: row,
            same: try await list { $0.filter = Self.equals(id, row) },
            behind: try await pulled(.behindID(row)),
            none: takesAnyID ? try await list { $0.filter = Self.equals(id, Self.noneID) } : nil,
            counted: try await list { ($0.top, $0.includesCount, $0.includesDeleted) = (1, true, false) })
        report.add(seen)
    }

    static func equals(_ column: PropertyName, _ id: RecordID) -> QueryExpression {
        .binary(.eq, .column(column), .literal(.id(id)))
    }
}
