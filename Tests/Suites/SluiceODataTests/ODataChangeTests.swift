import HTTPTypes
import SluiceCore
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceOData

@Suite("changes of rows of OData services")
struct ODataChangeTests {
    private static let tag = #"W/"datetime'2026-11-23T10%3A00%3A01.416000'""#

    @Test(
        "a row that the service makes under a key of its own, which its metadata does not say, is made once",
        arguments: ["Location", "OData-EntityId", "body"], [201, 204])
    func madeElsewhere(_ way: String, _ status: Int) async throws {
        let made = ScriptedTransport.Step.row("100", "W/\"1\"", #","Text":"mine""#, status: way == "body" ? 201 : 200)
        let answer = ScriptedTransport.Step.json(status, "", [way: "http://odata.example/svc/Orders('100')"])
        let fixture = try ODataFixture(.v4, nil, way == "body" ? [made] : [answer, made])
        let context = try await SyncContext(client: fixture.client, store: MemoryStore(), tables: [])
        let orders = try context.table("Orders")
        try await orders.insert(["id": "mine", "Text": "mine"])
        #expect(try await context.push().isClean)
        #expect(fixture.sent.filter { $0.hasPrefix("POST") }.count == 1, "\(fixture.sent)")
        #expect(try await orders.lookup(id: "100")?["Text"] == "mine")
        #expect(try await orders.lookup(id: "mine") == nil)
    }

    @Test("once a service has assigned a key by itself, the next creation is sent once")
    func learntKeys() async throws {
        let made = ScriptedTransport.Step.row("100", "W/\"1\"", #","Text":"mine""#, status: 201)
        let fixture = try ODataFixture(.v4, nil, [made, .json(502, "")])
        let context = try await SyncContext(client: fixture.client, store: MemoryStore(), tables: [])
        let orders = try context.table("Orders")
        try await orders.insert(["id": "mine", "Text": "mine"])
        #expect(try await context.push().isClean)
        try await orders.insert(["id": "next", "Text": "next"])
        _ = try? await context.push()
        _ = try? await context.push()
        #expect(fixture.sent == ["POST /Orders", "POST /Orders"])
        let operation = try #require(try await context.queue.operations().first)
        #expect(operation.failure?.code == "maybeApplied")
    }

    @Test("a version is the whole tag, and goes back as it came", arguments: [ODataVersion.v2, .v4])
    func tags(_ version: ODataVersion) async throws {
        let fixture = try ODataFixture(
            version, nil,
            [
                .row("1", Self.tag, version: version), .json(204, ""),
                .row("1", "W/\"2\"", #","Text":"b","By":"server""#, version: version),
            ])
        let record = try await fixture.orders.lookup(id: "1")
        #expect(record["__version"] == JSON(Self.tag))
        let changed = try await fixture.orders.update(record.setting(["Text": "b"]))
        #expect(
            fixture.sent == [
                "GET /Orders('1')", "\(version == .v2 ? "MERGE" : "PATCH") /Orders('1')", "GET /Orders('1')",
            ])
        #expect(fixture.field("If-Match", of: 1) == Self.tag)
        #expect(try fixture.body(of: 1) == ["Text": "b"])
        // An answer of 204 is read back: the service has set a property by itself.
        #expect(changed["By"] == "server")
        #expect(changed["__version"] == "W/\"2\"")
    }

    @Test("a service that takes no MERGE gets PATCH, and one without PATCH a POST that names it")
    func ladder() async throws {
        let fixture = try ODataFixture(
            .v2, nil,
            [
                .json(405, ""), .json(405, ""), .row("1", "W/\"2\"", version: .v2), .row("1", "W/\"3\"", version: .v2),
            ])
        _ = try await fixture.orders.update(["id": "1", "Text": "a", "__version": "W/\"1\""])
        _ = try await fixture.orders.update(["id": "1", "Text": "b", "__version": "W/\"2\""])
        #expect(fixture.sent == ["MERGE /Orders('1')", "PATCH /Orders('1')", "POST /Orders('1')", "POST /Orders('1')"])
        #expect(fixture.field("X-HTTP-Method", of: 2) == "PATCH")
    }

    @Test("methods are tunnelled where the settings say so")
    func tunnel() async throws {
        let settings = ODataSettings(tables: ["Orders": ODataFixture.orders], tunnelsMethods: true)
        let fixture = try ODataFixture(.v4, settings, [.json(204, "")])
        try await fixture.orders.delete(["id": "1", "__version": "W/\"1\""])
        #expect(fixture.sent == ["POST /Orders('1')"])
        #expect(fixture.field("X-HTTP-Method-Override", of: 0) == "DELETE")
        #expect(fixture.field("If-Match", of: 0) == "W/\"1\"")
    }

    @Test("PUT sends the row whole")
    func put() async throws {
        let settings = ODataSettings(tables: ["Orders": ODataFixture.orders], update: .put)
        let fixture = try ODataFixture(.v4, settings, [.row("1", "W/\"2\"")])
        _ = try await fixture.orders.update(["id": "1", "Text": "a", "B": 1, "__version": "W/\"1\""])
        #expect(fixture.sent == ["PUT /Orders('1')"])
        #expect(try fixture.body(of: 0) == ["Number": "1", "Text": "a", "B": 1])
    }

    @Test("a conflict carries the service's row, which the refusal did not")
    func conflict() async throws {
        let fixture = try ODataFixture(
            .v4, nil,
            [.json(412, #"{"error":{"code":"412","message":"stale"}}"#), .row("1", "W/\"3\"", #","Text":"c""#)])
        let error = await #expect(throws: SluiceError.self) {
            try await fixture.orders.update(["id": "1", "Text": "b", "__version": "W/\"1\""])
        }
        #expect(error?.code == .preconditionFailed)
        #expect(error?.serverRecord?["Text"] == "c")
    }

    @Test("a service that wants a condition gets the one that holds for any row, where none was given")
    func unconditional() async throws {
        let fixture = try ODataFixture(.v4, nil, [.json(428, ""), .json(204, "")])
        try await fixture.orders.delete(id: "1")
        #expect(fixture.field("If-Match", of: 0) == nil)
        #expect(fixture.field("If-Match", of: 1) == "*")
    }

    @Test("rows without a tag have a digest for a version, and are compared before they are changed")
    func content() async throws {
        let row = ScriptedTransport.Step.json(200, #"{"Number":"1","Text":"a"}"#)
        let turned = ScriptedTransport.Step.json(200, #"{"Text":"a","Number":"1","@odata.etag":"W/\"7\""}"#)
        let other = ScriptedTransport.Step.json(200, #"{"Number":"1","Text":"x"}"#)
        let fixture = try ODataFixture(.v4, nil, [row, turned, .row("1", "W/\"8\""), other])
        let record = try await fixture.orders.lookup(id: "1")
        _ = try await fixture.orders.update(record.setting(["Text": "b"]))
        // The row has not changed, and has a tag when it is read alone: that is the condition.
        #expect(fixture.field("If-Match", of: 2) == "W/\"7\"")
        let error = await #expect(throws: SluiceError.self) {
            try await fixture.orders.update(record.setting(["Text": "c"]))
        }
        #expect(error?.code == .preconditionFailed)
        #expect(error?.serverRecord?["Text"] == "x")
        #expect(fixture.sent.count == 4)
    }

    @Test(
        "a creation that is refused is looked for: an earlier send may have made the row", arguments: [400, 409, 500])
    func createdBefore(_ status: Int) async throws {
        let fixture = try ODataFixture(.v2, nil, [.json(status, ""), .row("1", "W/\"1\"", version: .v2)])
        let error = await #expect(throws: SluiceError.self) {
            try await fixture.orders.insert(["id": "1", "Text": "a"])
        }
        #expect(error?.code == .conflict)
        #expect(error?.serverRecord?["id"] == "1")
        #expect(fixture.sent == ["POST /Orders", "GET /Orders('1')"])
    }

    @Test("a creation that is answered with 204 is read back")
    func createdEmpty() async throws {
        let fixture = try ODataFixture(.v4, nil, [.json(204, "", ["OData-EntityId": "x"]), .row("1", "W/\"1\"")])
        let made = try await fixture.orders.insert(["id": "1", "Text": "a"])
        #expect(made["__version"] == "W/\"1\"")
        #expect(fixture.field("Prefer", of: 0) == "return=representation")
    }

    @Test("v2 gets integers of 64 bits, decimals and times in its own form")
    func values() async throws {
        let set = try EntitySet(
            "S", key: [.init("K", .int64)],
            properties: [.init("D", .decimal), .init("T", .dateTime), .init("O", .dateTimeOffset), .init("I", .int32)])
        let form = RowForm(set: set, version: .v2)
        let record = try JSON(
            parsing:
                #"{"id":"9007199254740993","D":12345678901234567890.12,"T":"2013-09-16T00:00:00Z","O":"2013-09-16T01:00:00+01:00","I":5}"#
        )
        let key = try #require(EntityKey(id: "9007199254740993", in: set))
        #expect(
            form.body(ofWhole: record, "9007199254740993", key: key)
                == [
                    "K": "9007199254740993", "D": "12345678901234567890.12", "T": "/Date(1379289600000)/",
                    "O": "/Date(1379289600000+0060)/", "I": 5,
                ])
    }

    @Test("v2 has times and numbers of complex values and collections in its form, and texts that look like it stay")
    func nestedTimes() throws {
        var set = try EntitySet("S", key: [.init("K", .string)])
        set.structured["C"] = .structure([
            "When": .value(.dateTime), "Text": .value(.string), "All": .collection(.value(.dateTimeOffset)),
            "In": .structure(["At": .value(.dateTime), "Sum": .value(.decimal), "Big": .value(.int64)]),
        ])
        let form = RowForm(set: set, version: .v2)
        let entity = try JSON(
            parsing: #"""
                {"K":"k","C":{"When":"/Date(1379289600000)/","Text":"/Date(5)/","All":{"results":["/Date(1379289600000+0060)/"]},
                "In":{"At":"/Date(-62135596800000)/","Sum":"12.50","Big":"9007199254740993"}}}
                """#)
        let record = try #require(form.record(of: entity))
        let seen: JSON = [
            "When": "2013-09-16T00:00:00Z", "Text": "/Date(5)/", "All": ["2013-09-16T01:00:00+01:00"],
            "In": ["At": "0001-01-01T00:00:00Z", "Sum": try JSON(parsing: "12.50"), "Big": 9_007_199_254_740_993],
        ]
        #expect(record["C"] == seen)
        let sent: JSON = [
            "When": "/Date(1379289600000)/", "Text": "/Date(5)/", "All": ["/Date(1379289600000+0060)/"],
            "In": ["At": "/Date(-62135596800000)/", "Sum": "12.50", "Big": "9007199254740993"],
        ]
        #expect(form.body(ofChanges: ["C": seen])["C"] == sent)
    }

    // MARK: Keys that the service assigns

    private static let assigned = ODataSettings(
        tables: ["Orders": .init(clientID: "Ref", assignsKey: true, key: [.init("Number", .string)])])

    @Test("a row whose key the service assigns is known by the property that holds its id")
    func assigned() async throws {
        let fixture = try ODataFixture(
            .v4, Self.assigned,
            [
                .row("4711", "W/\"1\"", #","Ref":"a-1","Text":"t""#, status: 201),
                .json(200, #"{"value":[{"Number":"4711","Ref":"a-1"}]}"#), .json(204, ""),
                .row("4711", "W/\"2\"", #","Ref":"a-1","Text":"u""#),
            ])
        let made = try await fixture.orders.insert(["id": "a-1", "Text": "t"])
        #expect(try fixture.body(of: 0) == ["Ref": "a-1", "Text": "t"])
        #expect(made["id"] == "a-1")
        #expect(made["Number"] == "4711")
        let changed = try await fixture.orders.update(["id": "a-1", "Text": "u", "__version": "W/\"1\""])
        #expect(fixture.sent[1].hasPrefix("GET /Orders?$filter=(Ref%20eq%20'a-1')"))
        #expect(fixture.sent[2] == "PATCH /Orders('4711')")
        #expect(changed["id"] == "a-1")
    }

    @Test(
        "a creation whose answer is lost is searched for, and made again only when it can no longer be under way",
        arguments: [Duration.seconds(30), .seconds(-3600)])
    func underWay(_ passed: Duration) async throws {
        let none = ScriptedTransport.Step.json(200, #"{"value":[]}"#)
        let fixture = try ODataFixture(
            .v4, Self.assigned,
            [
                .json(504, ""), none, .json(404, ""), none, .json(404, ""),
                .row("4711", "W/\"1\"", #","Ref":"a-1","Text":"t""#, status: 201),
            ])
        let time = Mutex(Timestamp(ticks: 17_000_000_000_000_000))
        var options = SyncOptions()
        options.environment.now = { time.withLock { $0 } }
        let context = try await SyncContext(client: fixture.client, store: MemoryStore(), tables: [], options: options)
        try await context.table("Orders").insert(["id": "a-1", "Text": "t"])
        #expect(try await context.push().remaining == 1)
        #expect(try await context.push().remaining == 1)
        #expect(fixture.sent.map { $0.prefix(4) } == ["POST", "GET ", "GET "])
        #expect(try await context.queue.operations().first?.sent.count == 1)
        // A clock that was set back does not hold the creation up.
        time.withLock { $0 = $0.advanced(by: passed) }
        #expect(try await context.push().isClean)
        #expect(fixture.sent.map { $0.prefix(4) } == ["POST", "GET ", "GET ", "GET ", "GET ", "POST"])
    }

    private static let unfindable = ODataSettings(
        tables: ["Orders": .init(assignsKey: true, key: [.init("Number", .string)])])

    @Test("where there is no property to find such a row by, its record has the key for an id")
    func unnamed() async throws {
        let fixture = try ODataFixture(
            .v4, Self.unfindable, [.row("4711", "W/\"1\"", #","Text":"t""#, status: 201), .row("4712", "W/\"1\"")])
        let made = try await fixture.orders.insert(["id": "a-1", "Text": "t"])
        #expect(try fixture.body(of: 0) == ["Text": "t"])
        #expect(made["id"] == "4711")
        // Nobody needs an id for it.
        #expect(try await fixture.orders.insert(["Text": "t"])["id"] == "4712")
    }

    @Test("a lost answer is an error of its own then, and the retry filter does not repeat the request")
    func lost() async throws {
        let fixture = try ODataFixture(.v4, Self.unfindable, [.json(502, ""), .row("4711", "W/\"1\"", status: 201)])
        let error = await #expect(throws: SluiceError.self) {
            try await fixture.orders.insert(["id": "a", "Text": "t"])
        }
        #expect(error?.code == .maybeApplied)
        #expect(fixture.sent == ["POST /Orders"])
    }

    @Test("an id that is no key is refused where nothing says that the service assigns keys")
    func noKey() async throws {
        let settings = ODataSettings(tables: ["Orders": .init(key: [.init("Number", .int32)])])
        let fixture = try ODataFixture(.v4, settings, [])
        let error = await #expect(throws: SluiceError.self) {
            try await fixture.orders.insert(["id": "a", "Text": "t"])
        }
        #expect(error?.message.contains("clientID") == true)
        #expect(fixture.sent.isEmpty)
    }
}
