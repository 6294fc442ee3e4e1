import Foundation
import RepositoryFiles
import SluiceCore
import SluiceTestSupport

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

/// One row of `Fixtures/sync-cases.jsonl`, which says what an older SDK or server does, with the verdict on it.
struct SyncCase: Sendable {
    /// What the row is to us.
    enum Verdict: String, CaseIterable {
        /// Our engine does what the row says, and a test runs it.
        case same
        /// Our engine does something else on purpose, and a test runs that.
        case differs
        /// There is nothing in our engine that the row could be about.
        case notApplicable
    }

    /// The line of the row in the file, from 1.
    let line: Int
    let row: JSON
    let verdict: Verdict
    /// Why, for a row that is not the same; for one that is, what there is to add.
    let reason: String
    /// Where the documentation says so: a file of docs/ with its anchor.
    let see: String?
    /// What the runner needs and the row says in words only, on top of the row's own members.
    let given: JSON
    /// What our engine does, in the runner's words.
    let facts: JSON
    /// Whether the row and we differ in what the row says in words only.
    let isInWords: Bool

    var kind: String { row["kind"]?.string ?? "" }
    /// The SDK or server that the row is about.
    var source: String { row["sdk"]?.string ?? row["server"]?.string ?? "" }

    /// The row with what was added to it, for a runner.
    var input: JSON {
        var input = row
        for (name, value) in given.members ?? [] { input[name] = value }
        return input
    }

    /// A title that tells rows of a kind apart as far as they differ.
    static func title(of row: JSON) -> String {
        func text(_ name: String) -> String { row[name]?.string ?? row[name]?.int.map(String.init) ?? "" }
        switch text("kind") {
        case "collapse": return "\(text("existing")) + \(text("then")) → \(text("outcome"))"
        case "cancel":
            let server =
                text("op") == "push"
                ? "push \(text("server"))" : "push \(text("push_server")), pull \(text("pull_server"))"
            return "\(text("op")) cancelled \(text("cancel")); \(server) → \(text("synced_rows")) synced"
        case "http":
            let request = text("case").isEmpty ? text("request") : "\(text("request")), \(text("case"))"
            return "\(request) → \(text("status"))"
        default: return text("name")
        }
    }
}

/// The rows and the verdicts, read from the fixtures.
struct SyncCases {
    let cases: [SyncCase]
    /// What is wrong with the files: a row without a verdict, a verdict without a row.
    let problems: [String]

    static func fixture(_ name: String) throws -> [JSON] {
        try Data(contentsOf: URL(filePath: Repository.fixture(name))).split(separator: UInt8(ascii: "\n"))
            .map { try JSON(parsing: $0) }
    }

    static func load() throws -> SyncCases {
        try SyncCases(rows: fixture("sync-cases.jsonl"), verdicts: fixture("sync-verdicts.jsonl"))
    }

    init(rows: [JSON], verdicts lines: [JSON]) {
        var problems: [String] = []
        var reasons: [String: JSON] = [:]
        var verdicts: [Int: JSON] = [:]
        for line in lines {
            if let key = line["reason"]?.string {
                reasons[key] = line
            } else if let row = line["row"]?.int.map(Int.init), verdicts[row] == nil {
                verdicts[row] = line
            } else {
                problems.append("a verdict is there twice, or for no row: \(line)")
            }
        }
        cases = rows.enumerated().compactMap { index, row in
            if row["kind"] == "meta" { return nil }
            let line = index + 1
            guard let verdict = verdicts.removeValue(forKey: line),
                let kind = verdict["verdict"]?.string.flatMap(SyncCase.Verdict.init)
            else {
                problems.append("row \(line) has no verdict: \(SyncCase.title(of: row))")
                return nil
            }
            let why = verdict["why"]?.string ?? ""
            let reason = reasons[why]
            let result = SyncCase(
                line: line, row: row, verdict: kind, reason: reason?["text"]?.string ?? why,
                see: verdict["see"]?.string ?? reason?["see"]?.string, given: verdict["given"] ?? .object,
                facts: verdict["facts"] ?? .object, isInWords: verdict["inWords"] == true)
            problems += Self.problems(of: result, verdict)
            return result
        }
        for row in verdicts.keys.sorted() { problems.append("the verdict on row \(row) is about no row") }
        self.problems = problems
    }

    private static func problems(of row: SyncCase, _ verdict: JSON) -> [String] {
        var problems: [String] = []
        if verdict["case"]?.string != SyncCase.title(of: row.row) || verdict["of"]?.string != row.source {
            problems.append("the verdict on row \(row.line) is about another row: \(SyncCase.title(of: row.row))")
        }
        if row.verdict != .same && row.reason.isEmpty { problems.append("row \(row.line) gives no reason") }
        if row.verdict == .differs && row.facts == .object {
            problems.append("row \(row.line) differs, and nothing says what we do instead")
        }
        return problems
    }
}
