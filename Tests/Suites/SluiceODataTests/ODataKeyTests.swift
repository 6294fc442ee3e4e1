import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceOData

/// What a record's id is, what its key's properties are, and by which names filters ask for both.
@Suite("ids and keys of OData entities")
struct ODataKeyTests {
    private static let guid = "0f8fad5b-d9cb-469f-a165-708677289501"

    private func keyed(_ key: EntitySet.Property..., assigns: Bool? = nil) -> ODataSettings {
        var table = ODataSettings.Table(assignsKey: assigns, key: key)
        table.tracksChanges = false
        return ODataSettings(tables: ["Orders": table])
    }

    private func device(
        _ settings: ODataSettings, _ steps: [ScriptedTransport.Step], version: ODataVersion = .v4
    ) async throws -> (SyncContext, ODataFixture) {
        let fixture = try ODataFixture(version, settings, steps)
        let context = try await SyncContext(
            client: fixture.client, store: MemoryStore(), tables: [], options: SyncOptions(conflictPolicy: .hold))
        return (context, fixture)
    }

    // MARK: New rows

    @Test("the key that the application gives under the service's own name is the row's, and becomes the record's id")
    func ownName() async throws {
        let (context, fixture) = try await device(
            keyed(.init("Number", .string)), [.row("4711", "W/\"1\"", status: 201), .row("4711", "W/\"2\"")])
        let orders = try context.table("Orders")
        let made = try await orders.insert(["Number": "4711"])
        #expect(made["id"] != "4711")
        #expect(try await context.push().isClean)
        #expect(try fixture.body(of: 0) == ["Number": "4711"])
        #expect(try await orders.records().map { $0["id"] } == ["4711"])
        try await orders.update(["id": "4711", "Text": "a"])
        #expect(try await context.push().isClean)
        #expect(fixture.sent == ["POST /Orders", "PATCH /Orders('4711')"])
    }

    @Test("a key ID stands beside the id, and is found by either name")
    func keyNamedID() async throws {
        let row = #"{"@odata.etag":"W/\"1\"","ID":"\#(Self.guid)","Text":"a"}"#
        let (context, fixture) = try await device(keyed(.init("ID", .guid)), [.json(201, row)])
        let orders = try context.table("Orders")
        try await orders.insert(["ID": JSON(Self.guid.uppercased()), "Text": "a"])
        #expect(try await context.push().isClean)
        #expect(try fixture.body(of: 0)["ID"] == JSON(Self.guid))
        for filter in ["ID eq \(Self.guid)", "id eq \(Self.guid.uppercased())", "ID eq '\(Self.guid)'"] {
            let query = TableQuery("Orders", filter: try QueryExpression(odata: filter))
            #expect(try await orders.records(matching: query).map { $0["id"] } == [JSON(Self.guid)], "\(filter)")
        }
    }

    @Test("changes that wait, and references by the id, follow the key")
    func followed() async throws {
        let items = TableSchema(
            "Items", columns: [.init("Order", .string)], references: [.init("Parent", to: "Orders", by: "Order")])
        var settings = keyed(.init("Number", .string))
        settings.tables["Items"] = ODataSettings.Table(key: [.init("Code", .string)])
        let fixture = try ODataFixture(
            .v4, settings,
            [
                .row("4711", "W/\"1\"", status: 201),
                .json(201, #"{"@odata.etag":"W/\"1\"","Code":"i","Order":"4711"}"#),
            ])
        let context = try await SyncContext(
            client: fixture.client, store: MemoryStore(), tables: [TableSchema("Orders"), items])
        let made = try await context.table("Orders").insert(["Number": "4711"])
        try await context.table("Items").insert(["id": "i", "Order": made["id"] ?? .null])
        #expect(try await context.push().isClean)
        #expect(try fixture.body(of: 1) == ["Code": "i", "Order": "4711"])
    }

    @Test("where another record has the key's id already, the new one is held and nothing is sent")
    func taken() async throws {
        let page = #"{"value":[{"@odata.etag":"W/\"1\"","Number":"4711","Text":"theirs"}]}"#
        let (context, fixture) = try await device(
            keyed(.init("Number", .string)), [.json(200, page), .json(200, #"{"value":[]}"#)])
        let orders = try context.table("Orders")
        try await orders.pull()
        let sent = fixture.sent.count
        try await orders.insert(["Number": "4711", "Text": "mine"])
        #expect(try await context.push().failures.count == 1)
        #expect(fixture.sent.count == sent)
        #expect(try await orders.lookup(id: "4711")?["Text"] == "theirs")
        #expect(try await context.queue.operations().map(\.state) == [.parked])
    }

    @Test("a GUID in capitals is the service's, and the record takes its spelling", arguments: [ODataVersion.v2, .v4])
    func capitals(_ version: ODataVersion) async throws {
        let row = #""Key":"\#(Self.guid)"}"#
        let answer =
            version == .v4 ? #"{"@odata.etag":"W/\"1\"",\#(row)"# : #"{"d":{"__metadata":{"etag":"W/\"1\""},\#(row)}"#
        let (context, fixture) = try await device(
            keyed(.init("Key", .guid)), [.json(201, answer)], version: version)
        try await context.table("Orders").insert(["id": JSON(Self.guid.uppercased())])
        #expect(try await context.push().isClean)
        #expect(try fixture.body(of: 0) == ["Key": JSON(Self.guid)])
        #expect(try await context.table("Orders").records().map { $0["id"] } == [JSON(Self.guid)])
    }

    @Test("a key of several properties is given by them, or by an id that is one")
    func composite() async throws {
        let set = try EntitySet("Items", key: [.init("Order", .string), .init("Item", .int32)])
        func key(_ record: JSON) -> String? {
            guard case .whole(let key) = NewKey(of: record, called: record["id"]?.textID, in: set, version: .v4) else {
                return nil
            }
            return key.id(in: set).text
        }
        #expect(key(["id": "made", "Order": "1", "Item": 20]) == "Order='1',Item=20")
        #expect(key(["id": "Order='1',Item=20"]) == "Order='1',Item=20")
        #expect(key(["id": "Order='1',Item=20", "Item": 20]) == "Order='1',Item=20")
        #expect(key(["id": "made", "Order": "1"]) == nil)
        #expect(key(["id": "made", "Order": "1", "Item": "x"]) == nil)
    }

    @Test("of a key that the service completes the rest goes along, and is asked for where it is missing")
    func partlyAssigned() async throws {
        var set = try EntitySet("Items", key: [.init("Order", .string), .init("Item", .int32)])
        set.assignedKey = ["Item"]
        guard case .assigned(let given) = NewKey(of: ["Order": "1"], called: "made", in: set, version: .v4) else {
            Issue.record("not assigned")
            return
        }
        #expect(given.map(\.0) == ["Order"] && given.map(\.1) == ["1"])
        for record in [["Text": "a"], ["Order": "1", "Item": 5]] as [JSON] {
            guard case .refused(let reason) = NewKey(of: record, called: "made", in: set, version: .v4) else {
                Issue.record("not refused: \(record)")
                continue
            }
            #expect(reason.contains(record["Item"] == nil ? "Order" : "Item"))
        }
    }

    // MARK: Names

    @Test("a property id that is not the whole key is the column ID, in records, bodies and filters")
    func otherID() async throws {
        let row = #"{"@odata.etag":"W/\"1\"","id":7,"IsActive":false,"Text":"a"}"#
        let settings = keyed(.init("id", .int32), .init("IsActive", .boolean))
        let fixture = try ODataFixture(.v4, settings, [.json(200, #"{"value":[\#(row)]}"#), .json(201, row)])
        let found = try await fixture.orders.read(TableQuery("Orders", filter: try QueryExpression(odata: "ID eq 7")))
        #expect(fixture.sent.first?.hasPrefix("GET /Orders?$filter=(id%20eq%207)") == true)
        #expect(found.rows.map { $0["id"] } == ["id=7,IsActive=false"])
        #expect(found.rows.map { $0["ID"] } == [7])
        try await fixture.orders.insert(["ID": 7, "IsActive": false, "Text": "a"])
        #expect(try fixture.body(of: 1) == ["id": 7, "IsActive": false, "Text": "a"])
    }

    @Test(
        "the id is compared with constants of the key's type",
        arguments: [
            (EdmPrimitive.guid, "id eq \(guid)", "(id eq \(guid))"), (.int32, "id eq 5", "(id eq 5)"),
            (.int32, "5 lt id", "(id gt 5)"), (.int64, "id in (5,6)", "((id eq 5) or (id eq 6))"),
            (.string, "id eq \(guid)", "(id eq '\(guid)')"), (.guid, "id eq '\(guid.uppercased())'", "(id eq \(guid))"),
        ])
    func literals(_ type: EdmPrimitive, _ filter: String, _ expected: String) throws {
        let set = try EntitySet("Orders", key: [.init("id", type)])
        let form = FilterForm(set: set, version: .v4)
        guard case .some(let text) = try form.filter(try QueryExpression(odata: filter)) else {
            Issue.record("the service is not asked")
            return
        }
        #expect(text == expected)
    }

    @Test("a constant that no key can be is refused, and a text is no row's id")
    func noLiterals() throws {
        let form = FilterForm(set: try EntitySet("Orders", key: [.init("id", .guid)]), version: .v4)
        #expect(throws: SluiceError.self) { try form.filter(try QueryExpression(odata: "id eq 5")) }
        guard case .none = try form.filter(try QueryExpression(odata: "id eq 'x'")) else {
            Issue.record("a text may be asked for")
            return
        }
    }

    @Test("a row of a delta is the query's by the service's names", arguments: ["ID", "Id", "id", "Key"])
    func delta(_ key: String) async throws {
        func page(_ text: String, _ token: Int) -> ScriptedTransport.Step {
            .json(
                200,
                #"{"value":[{"@odata.etag":"W/\"\#(token)\"","\#(key)":"\#(Self.guid)","Text":"\#(text)"}],"#
                    + #""@odata.deltaLink":"Orders?$deltatoken=\#(token)"}"#)
        }
        func none(_ token: Int) -> ScriptedTransport.Step {
            .json(200, #"{"value":[],"@odata.deltaLink":"Orders?$deltatoken=\#(token)"}"#)
        }
        let settings = ODataSettings(tables: ["Orders": .init(key: [.init(PropertyName(key), .guid)])])
        let (context, _) = try await device(settings, [page("a", 1), page("b", 3), none(4)])
        let orders = try context.table("Orders")
        let query = TableQuery("Orders", filter: try QueryExpression(odata: "\(key) eq \(Self.guid)"))
        try await orders.pull(query, named: "q")
        try await orders.pull(query, named: "q")
        #expect(try await orders.records(matching: query).map { $0["Text"] } == ["b"])
    }

    // MARK: What a service ignores

    private static func metadata(_ text: String, _ annotations: String = "") -> ScriptedTransport.Step {
        let text = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" xmlns:sap="http://www.sap.com/Protocols/SAPData">
            <edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="O"><Key><PropertyRef Name="Number"/></Key><Property Name="Number" Type="Edm.String" Nullable="false"/>
            <Property Name="Text" Type="Edm.String"/>\(text)</EntityType>
            <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="S.O">\(annotations)</EntitySet></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        return .json(200, text)
    }

    @Test(
        "an update of what the service does not update is refused, and one that names it with the row's value is made",
        arguments: [
            (#"<Property Name="By" Type="Edm.String" sap:updatable="false"/>"#, ""),
            (#"<Property Name="By" Type="Edm.String"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>"#, ""),
            (#"<Property Name="By" Type="Edm.String"><Annotation Term="Core.Immutable" Bool="true"/></Property>"#, ""),
            (
                #"<Property Name="By" Type="Edm.String"/>"#,
                #"<Annotation Term="Org.OData.Capabilities.V1.UpdateRestrictions"><Record><PropertyValue Property="NonUpdatableProperties"><Collection><PropertyPath>By</PropertyPath></Collection></PropertyValue></Record></Annotation>"#
            ),
        ])
    func notUpdated(_ property: String, _ annotation: String) async throws {
        let row = ScriptedTransport.Step.row("1", "W/\"1\"", #","Text":"a","By":"me""#)
        let fixture = try ODataFixture(
            .v4, ODataSettings(), [Self.metadata(property, annotation), row, row, .row("1", "W/\"2\"")])
        let error = await #expect(throws: SluiceError.self) {
            try await fixture.orders.update(["id": "1", "By": "you", "__version": "W/\"1\""])
        }
        #expect(error?.message.contains("By") == true)
        _ = try await fixture.orders.update(["id": "1", "Text": "b", "By": "me", "__version": "W/\"1\""])
        #expect(fixture.sent.filter { $0.hasPrefix("PATCH") }.count == 1)
        #expect(try fixture.body(of: 3) == ["Text": "b"])
    }

    @Test("rows that a service expands by itself are no part of a row that is replaced")
    func expanded() async throws {
        let lines = #"<NavigationProperty Name="Lines" Type="Collection(S.O)"/>"#
        let row = ScriptedTransport.Step.row("1", "W/\"1\"", #","Text":"a","Lines":[{"Number":"2","Text":"b"}]"#)
        let fixture = try ODataFixture(
            .v4, ODataSettings(update: .put), [Self.metadata(lines), row])
        let record: JSON = ["id": "1", "Text": "b", "Lines": [["Number": "2", "Text": "b"]], "__version": "W/\"1\""]
        _ = try await fixture.orders.update(record)
        #expect(fixture.sent.dropFirst() == ["PUT /Orders('1')"], "nothing is read first")
        #expect(try fixture.body(of: 1) == ["Number": "1", "Text": "b"])
    }

    @Test("a description in which no property may be set says nothing of any")
    func allMarked() throws {
        let property = { (name: String) in
            #"<Property Name="\#(name)" Type="Edm.String" sap:creatable="false" sap:updatable="false"/>"#
        }
        let text = #"""
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx" xmlns:sap="http://www.sap.com/Protocols/SAPData">
            <edmx:DataServices><Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
            <EntityType Name="O"><Key><PropertyRef Name="Number"/></Key>\#(property("Number"))\#(property("Text"))</EntityType>
            <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="S.O"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """#
        let set = try #require(try EdmModel(document: Array(text.utf8)).entitySet("Orders"))
        #expect(!set.assignsKey && set.notCreatable.isEmpty && set.notUpdatable.isEmpty)
    }

    @Test("a new row that brings what only the service sets is refused")
    func notCreated() async throws {
        let property = #"<Property Name="By" Type="Edm.String" sap:creatable="false"/>"#
        let fixture = try ODataFixture(
            .v4, ODataSettings(), [Self.metadata(property), .row("1", "W/\"1\"", status: 201)])
        await #expect(throws: SluiceError.self) { try await fixture.orders.insert(["id": "1", "By": "me"]) }
        _ = try await fixture.orders.insert(["id": "1", "By": .null])
        #expect(try fixture.body(of: 1) == ["Number": "1"])
    }

    @Test("a change of the key is refused: it would be another row")
    func keyChange() async throws {
        let fixture = try ODataFixture(.v4, nil, [.row("1", "W/\"2\"")])
        await #expect(throws: SluiceError.self) { try await fixture.orders.update(["id": "1", "Number": "2"]) }
        _ = try await fixture.orders.update(["id": "1", "Number": "1", "Text": "a"])
        #expect(fixture.sent == ["PATCH /Orders('1')"])
        #expect(try fixture.body(of: 0) == ["Text": "a"])
    }
}
