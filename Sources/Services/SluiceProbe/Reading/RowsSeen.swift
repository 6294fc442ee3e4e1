internal import Foundation
internal import SluiceBase
internal import SluiceWire

/// The first rows of a table, by id: read plainly, and twice with the deleted ones.
struct RowsSeen: ProbeObservation {
    var plain: ProbePage
    var all: ProbeSession.Answer<ProbePage>
    var again: ProbePage?
    var columns = SystemColumns()
    /// Whether rows have versions of their own, and times: an OData service may have neither.
    var needsVersions = true
    var needsTimes = true
    /// The number of rows that are named.
    static let named = 3

    /// The rows that the other questions are about.
    var page: ProbePage { (try? all.get()) ?? plain }

    var findings: [ProbeFinding] {
        var found: [ProbeFinding] = []
        if case .failure(let error) = all {
            found.append(ProbeFinding(.deletedRefused, "the list with deleted rows is refused: \(error.message)"))
        }
        if plain.rows.contains(where: \.isDeleted) {
            let names = Self.names(plain.rows.filter(\.isDeleted).map(\.id))
            found.append(ProbeFinding(.deletedListed, "a list that did not ask for them has the deleted rows \(names)"))
        }
        let rows = page.rows
        if let problem = (plain.problems + page.problems).first {
            found.append(ProbeFinding(.rowsUnfit, "a row cannot be stored: \(problem)"))
        }
        let fit = rows.filter { !$0.isUnfit }
        let integers = fit.filter { if case .integer = $0.id { true } else { false } }
        if !integers.isEmpty {
            found.append(ProbeFinding(.idsIntegers, "the ids are integers: \(Self.names(integers.map(\.id)))"))
        }
        let twice = Dictionary(grouping: fit.map(\.id)) { $0 }.values.filter { $0.count > 1 }.compactMap(\.first)
        if !twice.isEmpty { found.append(ProbeFinding(.rowsRepeated, "one page has \(Self.names(twice)) twice")) }
        found += twins(Set(fit.filter { !$0.isDeleted }.map(\.id)))
        let bare = fit.filter { $0.version == nil && !$0.isDeleted }
        if needsVersions, !bare.isEmpty {
            found.append(
                ProbeFinding(.versionMissing, "rows have no \(columns.version): \(Self.names(bare.map(\.id)))"))
        }
        let untimed = fit.filter { $0.updatedAt == nil && !$0.isDeleted }
        if needsTimes, !untimed.isEmpty {
            found.append(
                ProbeFinding(.rowsUntimed, "rows have no \(columns.updatedAt): \(Self.names(untimed.map(\.id)))"))
        }
        return found + moved(rows)
    }

    /// Ids that are equal in letters of one case, or after Unicode's normalisation.
    private func twins(_ ids: Set<RecordID>) -> [ProbeFinding] {
        let forms = Dictionary(grouping: ids) { Self.folded($0.text) }
        guard let twins = forms.values.first(where: { $0.count > 1 }) else { return [] }
        let names = twins.map { JSON($0.text).description }.sorted().joined(separator: " and ")
        return [ProbeFinding(.idsTwins, "two rows have the ids \(names), equal but for case or normalisation")]
    }

    /// Whether reading changes rows.
    private func moved(_ rows: [RowPage.Row]) -> [ProbeFinding] {
        guard let again, rows.count > 1 else { return [] }
        let known = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        let other = again.rows.filter { row in
            known[row.id].map { $0.version != row.version && $0.updatedAt == row.updatedAt } ?? true
        }
        guard other.count * 2 > rows.count else { return [] }
        return [
            ProbeFinding(
                .rowsMove,
                "the same list has other rows, or other versions, the second time: \(Self.names(other.map(\.id)))")
        ]
    }

    var facts: [(subject: String, text: String)] {
        [("rows", page.rows.isEmpty ? "the table has none" : "\(page.rows.count.counted("row")) looked at")]
    }

    /// The text without the differences of case and of Unicode's normalisation.
    static func folded(_ text: String) -> [UInt8] {
        Array(text.precomposedStringWithCanonicalMapping.lowercased().utf8)
    }

    static func names(_ ids: [RecordID]) -> String {
        ids.prefix(named).map { "\($0.text)" }.joined(separator: ", ") + (ids.count > named ? ", …" : "")
    }
}

extension ProbeSession {
    /// Looks at the first rows.
    func rows(_ first: ProbePage, _ report: inout ProbeReport) async throws -> RowsSeen {
        let all = try await list()
        var seen = RowsSeen(plain: first, all: all, columns: dialect.columns)
        if case .success(let page) = all {
            seen.again = try? await list().get()
            seen.needsTimes = !isService || page.rows.contains { $0.updatedAt != nil }
        }
        seen.needsVersions = !isService
        report.add(seen)
        return seen
    }
}
