import Foundation
import HTTPTypes
import RepositoryFiles
import SluiceCore
import Testing

@testable import SluiceBackend

/// Status and body for status and body: what the servers of this family answer.
@Suite("The servers' answers") struct HTTPCaseTests {
    @Test("Every row has an answer, the same or another for a reason") func rows() async throws {
        let rows = try HTTPCase.rows()
        #expect(rows.count == 65)
        #expect(Set(HTTPCase.all.map(\.line)) == Set(rows.keys))
        for item in HTTPCase.all {
            let row = try #require(rows[item.line])
            let fixture = try await HTTPCase.fixture()
            let answer = await item.answer(fixture)
            let text = String(decoding: answer.response.body.bytes, as: UTF8.self)
            #expect(answer.status == item.status, "line \(item.line): \(row): \(text)")
            if item.differs == nil, let status = row["status"]?.int {
                #expect(item.status == Int(status), "line \(item.line)")
            }
            switch item.content {
            case .anything: break
            case .empty: #expect(text.isEmpty, "line \(item.line): \(text)")
            case .text(let part): #expect(text.contains(part), "line \(item.line): \(text)")
            case .record(let id):
                let stored = await fixture.send(.get, "/tables/t/\(id)?__includeDeleted=true")
                var expected = stored.json
                if item.wire.names.wire(SystemColumn.createdAt) == nil { expected["createdAt"] = nil }
                #expect(answer.json == expected, "line \(item.line)")
                #expect(answer.etag == stored.etag, "line \(item.line)")
            }
        }
    }

    @Test("The page of the records says what the rows say") func page() throws {
        let page = URL(fileURLWithPath: Repository.record("conformance-backend.md"))
        let rows = try HTTPCase.rows()
        var lines = [
            "# Conformance: the backend, row by row", "",
            "What the servers of this family answer is written down in `Tests/Data/Fixtures/sync-cases.jsonl` (kind",
            "`http`). A test asks the backend the same and fails where the answer is neither the row's nor the one below. `ct10` is",
            "the Community Toolkit's server, `v6` that of versions 5 and 6, `node` and `netserver2` those of version 2.",
            "`make written-docs` writes this page.", "",
            "| row | server | request | situation | its answer | the backend's |", "|---|---|---|---|---|---|",
        ]
        for (line, row) in rows.sorted(by: { $0.key < $1.key }) {
            func cell(_ name: String) -> String {
                let value = row[name]?.string ?? row[name]?.int.map { "\($0)" } ?? ""
                return value.replacing("|", with: "\\|").replacing("__", with: "\\_\\_").replacing("<", with: "&lt;")
            }
            let here = HTTPCase.all.filter { $0.line == line }
            let differs = here.compactMap(\.differs).first
            let verdict = differs.map { "**\(here[0].status)**: \($0)" } ?? "same"
            lines.append(
                "| \(line) | \(cell("server")) | \(cell("request")) | \(cell("case")) | "
                    + "\(cell("status")) \(cell("body")) | \(verdict) |")
        }
        lines += [
            "",
            "The 206 rows of `Tests/Data/Fixtures/odata-cases.jsonl`, queries over the servers' own test data, are all",
            "answered as the rows say: page, count, next link, and 400 for what is wrong. The same queries are asked of both local stores.",
            "",
        ]
        let text = lines.joined(separator: "\n")
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_DOCS"] != nil {
            try text.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: page, encoding: .utf8) == text, "conformance-backend.md is out of date")
    }
}
