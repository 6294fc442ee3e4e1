import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceBackend

@Suite("Hostile text in a list") struct HostileListTests {
    @Test("SQL in a value, a name or a parameter finds what is there and changes nothing")
    func everywhere() async throws {
        let fixture = try await BackendFixture.empty()
        // PostgreSQL has no text with U+0000: see docs/backend-postgres.md.
        let texts = HostileText.all.filter { TestDatabase.isSQLite || !$0.utf8.contains(0) }
        for (index, text) in texts.enumerated() {
            let record: JSON = ["id": JSON("r\(index)"), "name": JSON(text)]
            #expect(await fixture.send(.post, "/tables/t", record.description).status == 201, "\(text)")
        }
        let before = await fixture.send(.get, "/tables/t").json
        #expect(before.count == texts.count)
        for (index, text) in texts.enumerated() {
            let filter = QueryExpression.binary(.eq, .column("name"), .literal(.string(text)))
            let found = await fixture.send(.get, "/tables/t?$filter=\(PercentEncoding.query(filter.odata(.v3)))")
            #expect(found.ids == ["r\(index)"], "\(text): \(found.error)")
            for parameter in ["$filter", "$orderby", "$select", "$top", "$skip", "$inlinecount", "$count", "plain"] {
                let path = "/tables/t?\(parameter)=\(PercentEncoding.query(text))"
                let answer = await fixture.send(.get, path)
                #expect([200, 400].contains(answer.status), "\(path): \(answer.status) \(answer.error)")
            }
            let answer = await fixture.send(.get, "/tables/t/\(PercentEncoding.segment(text))")
            #expect([400, 404].contains(answer.status), "\(text): \(answer.status)")
            let table = await fixture.send(.get, "/tables/\(PercentEncoding.segment(text))")
            #expect([400, 404].contains(table.status), "\(text): \(table.status)")
        }
        #expect(await fixture.send(.get, "/tables/t").json == before)
    }

    @Test(
        "A filter that is too long or too deep is refused with the reason",
        arguments: [
            ("(", 100_000, "", "", "8192"), ("x eq 'a", 20_000, "", "", "8192"), ("(", 64, "x", ")", "character 64"),
            ("not ", 2000, "true", "", "64 levels"),
        ])
    func limits(before: String, count: Int, inner: String, after: String, reason: String) async throws {
        let filter = String(repeating: before, count: count) + inner + String(repeating: after, count: count)
        let fixture = try await BackendFixture.empty()
        let answer = await fixture.send(.get, "/tables/t?$filter=\(PercentEncoding.query(filter))")
        #expect(answer.status == 400 && answer.error.contains(reason), "\(answer.error)")
    }
}
