import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct ODataOperationTests {
    private func fixture() async throws -> ODataFixture {
        try await ODataFixture(operations: [
            .function("Top", [.init("count", .integer), .init("name", .string)], returns: .records(table: "customers"))
            {
                call in
                var query = TableQuery("customers", order: [.init("points", descending: true)])
                query.top = Int(exactly: call["count"]?.int ?? 1)
                if let name = call["name"]?.string {
                    query.filter = .binary(.eq, .column("name"), .literal(.string(name)))
                }
                return JSON(try await call.records(matching: query))
            },
            .function("Sum", [.init("a", .integer), .init("b", .integer)], returns: .value(.integer)) { call in
                JSON((call["a"]?.int ?? 0) &+ (call["b"]?.int ?? 0))
            },
            .action("Reset", [.init("hard", .boolean)], access: .anonymous) { call in
                if call["hard"]?.bool == true { throw HookRefusal(409, "not so hard") }
                return .null
            },
        ])
    }

    @Test func functionsInV4() async throws {
        let fixture = try await fixture()
        await fixture.plant(3)
        #expect(await fixture.v4(.get, "Top(count=2)").keys == ["c3", "c2"])
        #expect(await fixture.v4(.get, "Top(count=5,name=@n)?@n='N2'").keys == ["c2"])
        #expect(await fixture.v4(.get, "Sum(a=2,b=3)").json["value"] == 5)
        #expect(await fixture.v4(.get, "Sum(a='x')").status == 400)
        #expect(await fixture.v4(.get, "Sum(c=1)").status == 400)
        #expect(await fixture.v4(.post, "Sum(a=1)").status == 405)
    }

    @Test func actionsInV4() async throws {
        let fixture = try await fixture()
        #expect(await fixture.v4(.post, "Reset", #"{"hard":false}"#).status == 204)
        let refused = await fixture.v4(.post, "Reset", #"{"hard":true}"#)
        #expect(refused.status == 409)
        #expect(refused.json["error"]?["message"] == "not so hard")
        #expect(await fixture.v4(.get, "Reset").status == 405)
        let xml = await fixture.v4(.get, "$metadata").text
        #expect(xml.contains(#"<ActionImport Name="Reset" Action="Shop.Reset"/>"#))
        #expect(xml.contains(#"<ReturnType Type="Collection(Shop.customers)"/>"#))
    }

    @Test func functionImportsInV2() async throws {
        let fixture = try await fixture()
        await fixture.plant(2)
        #expect(await fixture.v2(.get, "Top?count=1L").keys == ["c2"])
        #expect(await fixture.v2(.get, "Sum?a=2&b=3").json["d"]?["Sum"] == "5")
        #expect(await fixture.v2(.post, "Reset?hard=false").status == 204)
        #expect(await fixture.v2(.post, "Reset?hard=true").status == 409)
        #expect(await fixture.v2(.get, "$metadata").text.contains(#"m:HttpMethod="POST""#))
    }

    @Test func aNameTwiceIsRefused() async throws {
        await #expect(throws: SluiceError.self) {
            _ = try await ODataFixture(operations: [.function("customers", returns: .nothing) { _ in .null }])
        }
    }
}
