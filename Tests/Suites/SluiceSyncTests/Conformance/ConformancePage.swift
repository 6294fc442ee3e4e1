import SluiceCore
import SluiceTestSupport

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

/// `Tests/Data/Records/conformance.md`, made of the rows and the verdicts.
struct ConformancePage {
    private let cases: [SyncCase]
    private static let kinds = [
        (
            "collapse", "A record that has an operation is changed again",
            "The case: what is queued + what is new → what the SDK does."
        ),
        ("pull", "Pull", ""),
        ("purge", "Purge", ""),
        ("push", "Push", ""),
        (
            "cancel", "Cancellation",
            "The case: what is cancelled and when; what the server answers → how many rows are in step right after. "
                + "In every case a later push and pull bring both sides in step, and nothing is done twice."
        ),
        (
            "http", "What servers answer",
            "The case: request, situation → status. *Same* means that the client takes the answer for what it is: the last "
                + "column says what a list, a lookup or an operation makes of it. `theirs` is the server's record."
        ),
    ]
    private static let words: [SyncCase.Verdict: String] = [
        .same: "same", .differs: "**differs**", .notApplicable: "no counterpart",
    ]

    init(_ cases: [SyncCase]) { self.cases = cases }

    var text: String {
        var lines = [Self.introduction, "", "| | same | differs | no counterpart |", "|---|---|---|---|"]
        for (kind, title, _) in Self.kinds {
            let counts = SyncCase.Verdict.allCases.map { verdict in
                "\(cases.count { $0.kind == kind && $0.verdict == verdict })"
            }
            lines.append("| [\(title)](#\(Self.anchor(title))) | \(counts.joined(separator: " | ")) |")
        }
        for (kind, title, explanation) in Self.kinds {
            lines += ["", "## \(title)", ""]
            if !explanation.isEmpty { lines += [explanation, ""] }
            lines += ["| row | of | case | verdict | why |", "|---|---|---|---|---|"]
            lines += cases.filter { $0.kind == kind }.map(Self.line)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(_ item: SyncCase) -> String {
        var reason = cell(item.reason)
        if item.kind == "http" {
            let taken = (item.facts.members ?? []).map { "\($0.name): \($0.value.string ?? "")" }.joined(
                separator: "; ")
            if !taken.isEmpty { reason = "*\(cell(taken))*\(reason.isEmpty ? "" : " \(reason)")" }
        }
        if let see = item.see { reason += " [\(see.prefix { $0 != "." })](../../../docs/\(see))" }
        let title = cell(SyncCase.title(of: item.row))
        return "| \(item.line) | \(item.source) | \(title) | \(words[item.verdict] ?? "") | \(reason) |"
    }

    /// A text that ends no cell of a table and is no markup.
    private static func cell(_ text: String) -> String {
        text.replacing("|", with: "\\|").replacing("__", with: "\\_\\_").replacing("<", with: "&lt;")
    }

    private static func anchor(_ title: String) -> String {
        title.lowercased().replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" }
    }

    private static let introduction = """
        # Conformance: the sync engines of this family, row by row

        Sluice speaks to servers whose own SDKs have kept offline stores for years. What those SDKs do is written down as
        facts in `Tests/Data/Fixtures/sync-cases.jsonl`, one a line; `sync-verdicts.jsonl` beside it has a verdict on
        each.

        | verdict | meaning |
        |---|---|
        | same | our engine does what the row says; a test runs it |
        | **differs** | our engine does something else on purpose; a test runs that, and the last column says why |
        | no counterpart | the row is about something that there is not here |

        The older ways of paging are compared after leaving out what means nothing: `$skip=0`, a lower bound of 1970, and the
        id as the last key of an order. A pull here always asks for rows in an order that ends with the id.

        `ios`, `android3` and `js2` are the Azure Mobile Apps SDKs 3.4, 3.5.1 and 2; `net4` is the .NET client 4.2; `v6` and
        `ct10` are the Datasync client and server 6 and the Community Toolkit's 10.1; `node` and `netserver2` are servers.

        The facts were read in the sources and tests of those projects, which are open; no code of theirs is here. What their
        clients write for queries is in [queries-cases.md](queries-cases.md).

        This page is made by a test, which fails when it is out of date; `make written-docs` writes it.
        """
}
