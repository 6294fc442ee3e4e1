import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceOData

@Suite("refusals of OData services")
struct ODataRefusalTests {
    @Test(
        "the message is found in every form",
        arguments: [
            (#"{"error":{"code":"X/1","message":{"lang":"en","value":"No stock"}}}"#, "No stock"),
            (#"{"error":{"code":null,"message":"No stock","details":[{"message":"Line 2"}]}}"#, "No stock; Line 2"),
            (
                #"{"error":{"code":"X","message":{"value":"Failed"},"innererror":{"errordetails":[{"message":"No stock"},{"message":"Failed"}]}}}"#,
                "Failed; No stock"
            ),
            (
                #"<?xml version="1.0"?><error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>X</code><message xml:lang="en">No stock</message><innererror><errordetails><errordetail><message>Line 2</message></errordetail></errordetails></innererror></error>"#,
                "No stock; Line 2"
            ),
        ])
    func messages(_ body: String, _ text: String) async throws {
        let fixture = try ODataFixture(.v2, nil, [.json(400, body)])
        let error = await #expect(throws: SluiceError.self) { try await fixture.orders.read() }
        #expect(error?.message == text)
        #expect(error?.status == 400)
    }

    @Test("an XML bomb in a refusal is not read")
    func bomb() async throws {
        let body =
            #"<!DOCTYPE e [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><error><message>&b;</message></error>"#
        let fixture = try ODataFixture(.v2, nil, [.json(400, body)])
        let error = await #expect(throws: SluiceError.self) { try await fixture.orders.read() }
        #expect(error?.message.contains("aaaa") == false)
    }

    @Test("a row that somebody has locked is one to try later")
    func locked() async throws {
        let fixture = try ODataFixture(.v2, nil, [.json(423, #"{"error":{"message":{"value":"locked by ANN"}}}"#)])
        let error = await #expect(throws: SluiceError.self) {
            try await fixture.orders.update(["id": "1", "Text": "b", "__version": "W/\"1\""])
        }
        #expect(error?.code == .serverFailure)
        #expect(error?.message == "locked by ANN")
    }

    /// A service that wants a token with each change, for its session.
    private final class Guarded: Sendable {
        private let fetches = Counter()

        var fetched: Int { get async { await fetches.value } }

        func answer(_ request: SyncRequest) async -> SyncResponse {
            let token = HTTPField.Name("X-CSRF-Token").flatMap { request.head.headerFields[$0] }
            if request.head.method == .get, token == "Fetch" {
                let number = await fetches.next()
                return .json(
                    200, "{}",
                    ["X-CSRF-Token": "t\(number)", "Set-Cookie": "SAP_SESSIONID=s\(number); path=/; secure; HttpOnly"])
            }
            let session = request.head.headerFields[.cookie]
            let current = await fetches.value
            guard token == "t\(current)", session == "SAP_SESSIONID=s\(current)" else {
                return .json(403, "", ["X-CSRF-Token": "Required"])
            }
            return .json(204, "")
        }
    }

    private actor Counter {
        var value = 0
        func next() -> Int {
            value += 1
            return value
        }
    }

    @Test("a token against forged requests is fetched once for many tasks, with its cookie")
    func token() async throws {
        let service = Guarded()
        let script = ScriptedTransport { await service.answer($0) }
        let client = SluiceClient(
            endpoint: try Endpoint(ODataFixture.base),
            dialect: .odata(.v2, ODataSettings(tables: ["Orders": ODataFixture.orders])), transport: script,
            options: ClientOptions(retry: .never))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await client.table("Orders").delete(id: "\(number)", version: "W/\"1\"") }
            }
            try await group.waitForAll()
        }
        #expect(await service.fetched <= 2)
        let fetch = script.requests.first { $0.head.method == .get }
        // With the slash at the end: without it some services redirect, and the token is lost.
        #expect(fetch?.head.path == "/svc/")
        #expect(script.requests.filter { $0.head.method == .delete }.count <= 41)
    }

    @Test("a change that is refused for want of a token twice, as by another node of the service, is one to try later")
    func noToken() async throws {
        let fixture = try ODataFixture(
            .v2, nil,
            [
                .json(403, "", ["X-CSRF-Token": "Required"]), .json(200, "{}", ["X-CSRF-Token": "a"]),
                .json(403, "", ["X-CSRF-Token": "Required"]),
            ])
        let error = await #expect(throws: SluiceError.self) { try await fixture.orders.delete(id: "1") }
        #expect(error?.code == .serverFailure)
        #expect(fixture.sent.count == 3)
    }

    @Test("a set that the service does not have is said to be missing")
    func noSet() async throws {
        let metadata =
            #"<Edmx Version="4.0"><DataServices><Schema Namespace="N"><EntityContainer Name="C"/></Schema></DataServices></Edmx>"#
        let fixture = try ODataFixture(.v4, ODataSettings(), [.json(200, metadata)])
        let error = await #expect(throws: SluiceError.self) { try await fixture.client.table("Nope").read() }
        #expect(error?.code == .notFound)
        #expect(fixture.sent == ["GET /$metadata"])
    }
}
