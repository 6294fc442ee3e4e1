import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// Requests that are small themselves and ask for much.
@Suite("Limits") struct LimitTests {
    private static func nested(_ before: String, _ core: String, _ after: String, _ levels: Int) -> String {
        String(repeating: before, count: levels) + core + String(repeating: after, count: levels)
    }

    @Test(
        "conditions inside each other are answered down to the last level",
        arguments: [
            nested("(year eq 1 or (year gt 1 and ", "year gt 1990", "))", 30),
            nested("((", "year gt 1990", " or year eq 1) and year gt 1)", 30),
            nested("not(", "year gt 1990", ")", 60), nested("(", "year gt 1990", ")", 63),
        ])
    func conditions(_ filter: String) async throws {
        let fixture = try await BackendFixture.movies()
        for version in ["2.0.0", "3.0.0", nil] {
            let count = version == "2.0.0" ? "$inlinecount=allpages" : "$count=true"
            let answer = await fixture.send(.get, "/tables/movies?$top=0&\(count)&$filter=\(filter)", version: version)
            #expect(answer.status == 200)
            #expect(answer.json["count"] == 107)
        }
    }

    @Test(
        "calls and sums inside each other are answered, or refused with the reason",
        arguments: [
            "length(\(nested("tolower(", "title", ")", 60))) ge 0",
            "length(\(nested("concat('a',", "title", ")", 60))) ge 0",
            "\(nested("1 mod (", "year", ")", 60)) ge 0", "\(nested("1 add (", "year", ")", 60)) ge 0",
            nested("true eq (", "year gt 1990", ")", 60), nested("(", "year gt 1990", ") in (true,false)", 60),
        ])
    func calls(_ filter: String) async throws {
        let fixture = try await BackendFixture.movies()
        let answer = await fixture.send(.get, "/tables/movies?$filter=\(filter)")
        #expect(answer.status == 200 || answer.status == 400)
        let reasons = ["inside each other", "the lists of the query repeat too much"]
        if answer.status == 400 { #expect(reasons.contains { answer.error.contains($0) }) }
    }

    @Test("a key of the order that comes again changes nothing; too many keys are refused") func keys() async throws {
        let fixture = try await BackendFixture.movies()
        let again = Array(repeating: "year desc,other", count: 500).joined(separator: ",")
        let answer = await fixture.send(.get, "/tables/movies?$top=3&$orderby=\(again)")
        #expect(answer.status == 200)
        #expect(answer.ids == (await fixture.send(.get, "/tables/movies?$top=3&$orderby=year desc,other")).ids)
        let many = (0..<1500).map { "c\($0)" }.joined(separator: ",")
        #expect(await fixture.send(.get, "/tables/movies?$orderby=\(many)").status == 400)
    }

    @Test("texts that grow with every call end at a bound", .timeLimit(.minutes(1))) func growth() async throws {
        let fixture = try await BackendFixture.movies()
        let filter = "length(\(Self.nested("replace(", "title", ",'e','eeeeeeeeee')", 20))) gt 100000"
        let answer = await fixture.send(.get, "/tables/movies?$filter=\(filter)")
        #expect(answer.status == 200)
        #expect(answer.ids == [])
    }

    @Test("a patch that copies its copies is refused", .timeLimit(.minutes(1))) func copies() async throws {
        let fixture = try await BackendFixture.empty()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","x":{"y":"zzzz"}}"#, json: true, version: "3.0.0")
        let deep = (0..<40).map { #"{"op":"copy","from":"/x","path":"/x/c\#($0)"}"# }
        let wide = (0..<40).map {
            #"{"op":"add","path":"/n","value":{}},{"op":"copy","from":"/x","path":"/n/a"},"#
                + #"{"op":"copy","from":"/x","path":"/n/b"},{"op":"move","from":"/n","path":"/x"},"#
                + #"{"op":"add","path":"/m\#($0)","value":1}"#
        }
        let many = Array(repeating: #"{"op":"add","path":"/m","value":1}"#, count: 257)
        for steps in [deep, wide, many] {
            let answer = await fixture.send(
                .patch, "/tables/t/a", "[\(steps.joined(separator: ","))]",
                headers: [("Content-Type", "application/json-patch+json")], version: "3.0.0")
            #expect(answer.status == 400)
        }
        #expect(await fixture.send(.get, "/tables/t/a").json["x"] == ["y": "zzzz"])
    }
}
