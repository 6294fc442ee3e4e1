import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

/// What the SDKs and servers of this family do, row by row, held against our engine.
/// `Tests/Data/Records/conformance.md` shows the outcome.
@Suite("Conformance with the sync engines of the family") struct SyncCaseTests {
    @Test("every row has a verdict, and every verdict a row and a reason")
    func complete() throws {
        let all = try SyncCases.load()
        #expect(all.problems.isEmpty, "\(all.problems.joined(separator: "\n"))")
        #expect(all.cases.count == 306)
    }

    @Test("a row without a verdict is found, and so is a verdict on another row")
    func incomplete() throws {
        let row: JSON = ["kind": "push", "sdk": "x", "name": "n"]
        #expect(SyncCases(rows: [row], verdicts: []).problems.count == 1)
        let other: JSON = ["row": 1, "of": "x", "case": "m", "verdict": "same"]
        #expect(SyncCases(rows: [row], verdicts: [other]).problems.count == 1)
        #expect(SyncCases(rows: [row], verdicts: [other, other, ["row": 7]]).problems.count == 3)
    }

    @Test(
        "our engine does what the verdict says", .timeLimit(.minutes(10)),
        arguments: ["collapse", "pull", "purge", "push", "cancel", "http"])
    func kind(_ kind: String) async throws {
        for item in try SyncCases.load().cases where item.kind == kind && item.verdict != .notApplicable {
            let place = "row \(item.line), \(item.source): \(SyncCase.title(of: item.row))"
            do {
                check(item, try await CaseRunner.observe(item), place)
            } catch {
                Issue.record(error, "\(place)")
            }
        }
    }

    private func check(_ item: SyncCase, _ observed: JSON, _ place: String) {
        for (name, value) in item.facts.members ?? [] {
            #expect(observed[name] == value, "\(place): \(name) is \(observed[name] ?? "not told") in \(observed)")
        }
        let stated = CaseFacts.stated(by: item.row)
        let unmet = (stated.members ?? []).filter { name, value in observed[name] != value }
        switch item.verdict {
        case .same:
            for (name, value) in unmet where item.facts[name] == nil {
                #expect(observed[name] == value, "\(place): \(name) in \(observed)")
            }
            #expect(stated.count + item.facts.count > 0, "\(place): nothing is compared")
        case .differs:
            let isDifferent = !unmet.isEmpty || stated.count == 0 || item.isInWords
            #expect(isDifferent, "\(place): all that the row states holds, so it is the same: \(observed)")
        case .notApplicable: break
        }
    }
}

/// The runners: what our engine does in a row's situation, as facts by name.
enum CaseRunner {
    static func observe(_ item: SyncCase) async throws -> JSON {
        guard let variants = item.given["variants"]?.elements else { return try await observe(item.kind, item.input) }
        var common: JSON?
        for variant in variants {
            var input = item.input
            for (name, value) in variant.members ?? [] { input[name] = value }
            let observed = try await observe(item.kind, input)
            // A fact is what all variants have in common.
            let shared = (common ?? observed).members?.filter { observed[$0.name] == $0.value }
            common = JSON(members: (shared ?? []).map { ($0.name, $0.value) })
        }
        return common ?? .object
    }

    private static func observe(_ kind: String, _ input: JSON) async throws -> JSON {
        if input["cancel"] != nil { return try await CancelRunner(input).observe() }
        switch kind {
        case "collapse": return try await CollapseRunner(input).observe()
        case "pull": return try await PullRunner(input).observe()
        case "push", "purge": return try await StepRunner(input).observe()
        case "http": return try await AnswerRunner(input).observe()
        default: return .object
        }
    }
}

/// What a row states itself, in the runners' words.
enum CaseFacts {
    static func stated(by row: JSON) -> JSON {
        var facts = JSON.object
        for name in ["outcome", "ops_after", "stored", "synced_rows", "additions", "deletions", "replacements"] {
            facts[name] = row[name]
        }
        for name in ["completed", "failed", "errors", "op_http", "op_state", "rows_after", "request_count"] {
            facts[name] = row[name]
        }
        if let pending = row["pending_after"] { facts["ops_after"] = pending }
        if let size = row["expect"] { facts["page_size"] = size }
        if let end = row["status"]?.string.flatMap({ ends[$0] }) { facts["end"] = JSON(end) }
        if row["kind"] == "purge" || row["kind"] == "pull", let error = row["error"] {
            facts["failed"] = JSON(error != false)
        }
        if row["kind"] == "push", row["error"] == -1172 { facts["end"] = "network" }
        if let tokens = row["token_after"] {
            facts["cursor"] =
                tokens.members?.first?.value.string.flatMap { Timestamp($0) }
                .map { JSON($0.text(fractionDigits: 3)) } ?? .null
        }
        if let requests = row["requests"]?.elements {
            let isPull = row["kind"] == "pull"
            facts["requests"] = JSON(
                requests.map { isPull ? JSON(PullRequestText.normal($0.string ?? "")) : $0 })
        } else if let count = row["requests"] {
            facts["request_count"] = count
        }
        return facts
    }

    private static let ends = [
        "Complete": "completed", "CancelledByNetworkError": "network",
        "CancelledByAuthenticationError": "unauthorized", "CancelledByToken": "cancelled",
    ]
}
