import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite("$search, $compute, $apply and $levels of the OData v4 service")
struct ODataV4AnalysisTests {
    private func fixture() async throws -> ODataFixture {
        let fixture = try await ODataFixture()
        let rows = [
            #"{"id":"a","name":"Anna Berg","points":10,"rate":1.5,"active":true}"#,
            #"{"id":"b","name":"Bert Adler","points":20,"rate":2,"active":true}"#,
            #"{"id":"c","name":"anna Klein","points":5,"active":false}"#,
            #"{"id":"d","name":"hidden","points":1000}"#,
        ]
        for row in rows { #expect(await fixture.v4(.post, "customers", row).status == 201) }
        return fixture
    }

    @Test(
        "a search finds words in texts, in any case",
        arguments: [
            ("anna", ["a", "c"]), ("anna%20AND%20NOT%20berg", ["c"]), ("berg%20OR%20adler", ["a", "b"]),
            ("%22Anna%20Berg%22", ["a"]), ("hidden", []), ("NOT%20anna", ["b"]),
        ])
    func search(_ words: String, _ found: [String]) async throws {
        let fixture = try await fixture()
        #expect(await fixture.v4(.get, "customers?$search=\(words)").keys == found)
        #expect(await fixture.v4(.get, "customers/$count?$search=\(words)").text == "\(found.count)")
        let both = await fixture.v4(.get, "customers?$filter=points%20gt%206&$search=\(words)")
        #expect(both.keys == found.filter { $0 != "c" })
        #expect(await fixture.v2(.get, "customers?$search=\(words)").status == 501)
        #expect(await fixture.v4(.get, "customers?$search=%22open").status == 400)
    }

    @Test("computed properties are shown, filtered and sorted by")
    func compute() async throws {
        let fixture = try await fixture()
        let answer = await fixture.v4(
            .get,
            "customers?$compute=points%20mul%202%20as%20twice,twice%20add%201%20as%20more&$filter=twice%20ge%2020"
                + "&$orderby=more%20desc&$select=name,more")
        #expect(answer.status == 200, "\(answer.text)")
        let rows = answer.json["value"]?.elements ?? []
        #expect(rows.map { $0["name"] } == ["Bert Adler", "Anna Berg"])
        #expect(rows.map { $0["more"]?.int } == [41, 21])
        #expect(rows.allSatisfy { $0["twice"] == nil && $0["points"] == nil && $0["@odata.etag"] != nil })
        let all = await fixture.v4(.get, "customers('a')/orders?$compute=total%20add%201%20as%20one")
        #expect(all.status == 200)
        for wrong in ["points%20as%20name", "points%20mul"] {
            #expect(await fixture.v4(.get, "customers?$compute=\(wrong)").status == 400, "\(wrong)")
        }
    }

    @Test("sums and groups are made of the entities that the request may see")
    func apply() async throws {
        let fixture = try await fixture()
        let sum = await fixture.v4(
            .get, "customers?$apply=aggregate(points%20with%20sum%20as%20total,$count%20as%20number)")
        #expect(sum.json["value"] == [["total": 35, "number": 3]], "\(sum.text)")
        let groups = await fixture.v4(
            .get, "customers?$apply=groupby((active),aggregate(points%20with%20sum%20as%20total))&$orderby=total")
        #expect(groups.json["value"] == [["active": false, "total": 5], ["active": true, "total": 30]])
        let filtered = await fixture.v4(
            .get,
            "customers?$apply=filter(points%20gt%206)/aggregate(points%20with%20average%20as%20mean)&$count=true")
        #expect(filtered.json["value"]?[0]?["mean"]?.double == 15)
        #expect(filtered.json["@odata.count"] == 1)
        let first = await fixture.v4(
            .get, "customers?$apply=groupby((active),aggregate($count%20as%20n))&$filter=n%20gt%201&$top=1")
        #expect(first.json["value"] == [["active": true, "n": 2]])
        #expect(await fixture.v4(.get, "customers?$apply=fly(points)").status == 501)
        #expect(await fixture.v4(.get, "customers?$apply=groupby((active)").status == 400)
        #expect(await fixture.v4(.get, "customers?$expand=orders($apply=aggregate($count%20as%20n))").status == 501)
        let orders = await fixture.v4(.get, "customers('a')/orders?$apply=aggregate($count%20as%20n)")
        #expect(orders.json["value"] == [["n": 0]])
    }

    @Test("a link to its own set is followed for several levels")
    func levels() async throws {
        var staff = BackendConfiguration.Table("staff", columns: [.init("boss", .string), .init("name", .string)])
        staff.references = [.init("manager", column: "boss", table: "staff", inverse: "reports")]
        let base = try await BackendFixture(tables: [staff], odata: .init(namespace: "Shop"))
        func get(_ path: String) async -> Answer {
            await base.send(.get, "/odata/v4/" + path, "", headers: [], json: true, version: nil)
        }
        for number in 0..<8 {
            let boss = number == 0 ? "" : #","boss":"s\#(number - 1)""#
            let made = await base.send(
                .post, "/odata/v4/staff", #"{"id":"s\#(number)"\#(boss)}"#, headers: [], json: true, version: nil)
            #expect(made.status == 201)
        }
        func depth(_ entity: JSON?) -> Int {
            let below = entity?["reports"]?[0]
            return below == nil ? 0 : 1 + depth(below)
        }
        #expect(depth(await get("staff('s0')?$expand=reports").json) == 1)
        #expect(depth(await get("staff('s0')?$expand=reports($levels=3)").json) == 3)
        #expect(depth(await get("staff('s0')?$expand=reports($levels=max)").json) == 5)
        #expect(depth(await get("staff('s0')?$expand=reports($levels=2;$select=name)").json) == 2)
        #expect(await get("staff?$expand=reports($levels=0)").status == 400)
        let up = await get("staff('s3')?$expand=manager($levels=2)").json
        #expect(up["manager"]?["manager"]?["id"] == "s1")
        #expect(up["manager"]?["manager"]?["manager"] == nil)
        let other = try await ODataFixture()
        #expect(await other.v4(.get, "customers?$expand=orders($levels=2)").status == 400)
    }
}
