import HTTPTypes
import SluiceCore
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceOData
@testable import SluiceSync

/// A service with one row, whose changes show the changed properties alone, and whose reads by key come from a copy that
/// lags: it has the row as it was, or not yet.
private final class LaggingService: Transport {
    private let isNew = Mutex(false)
    private let isMissing: Bool

    init(isMissing: Bool) { self.isMissing = isMissing }

    func change() { isNew.withLock { $0 = true } }

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Order"><Key><PropertyRef Name="Number"/></Key>
        <Property Name="Number" Type="Edm.String" Nullable="false"/><Property Name="a" Type="Edm.String"/>
        <Property Name="b" Type="Edm.String"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="S.Order"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private func row(isNew: Bool) -> JSON {
        ["@odata.etag": isNew ? "\"2\"" : "\"1\"", "Number": "x", "a": isNew ? "new" : "old", "b": "kept"]
    }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let path = PercentEncoding.decoded(request.head.path ?? "")
        let isNew = isNew.withLock { $0 }
        if path.hasSuffix("$metadata") {
            var response = SyncResponse(HTTPResponse(status: .ok), body: MessageBody(bytes: Array(Self.metadata.utf8)))
            response.head.headerFields[.contentType] = "application/xml"
            return response
        }
        if path.contains("Orders('x')") {
            return isMissing
                ? ODataTransport.refusal(404, "no such row") : ODataTransport.response(200, row(isNew: false))
        }
        var body: JSON = ["value": [row(isNew: isNew)]]
        if path.contains("token=1") {
            let part: JSON = ["@odata.etag": "\"2\"", "Number": "x", "a": "new"]
            body = [
                "value": isNew ? [part] : [],
                "@odata.deltaLink": isNew ? "Orders?$deltatoken=2" : "Orders?$deltatoken=1",
            ]
        } else if path.contains("token=2") {
            body = ["value": [], "@odata.deltaLink": "Orders?$deltatoken=2"]
        } else if path.contains("gt 'x'") {
            body = ["value": []]
        } else if !path.contains("?") {
            body["@odata.deltaLink"] = isNew ? "Orders?$deltatoken=2" : "Orders?$deltatoken=1"
        }
        var response = ODataTransport.response(200, body)
        response.head.headerFields[.init("Preference-Applied")!] = "odata.track-changes"
        return response
    }
}

@Suite("Changes that show a part of a row, read whole from a copy that lags")
struct PartialChangeTests {
    @Test("the row is in step after the pull, and no later change is needed", arguments: [false, true])
    func lagging(_ isMissing: Bool) async throws {
        let service = LaggingService(isMissing: isMissing)
        let client = SluiceClient(
            endpoint: try Endpoint("http://h/svc"), dialect: .odataV4, transport: service,
            options: ClientOptions(retry: .never))
        let context = try await SyncContext(client: client, store: MemoryStore())
        let orders = try context.table("Orders")
        try await orders.pull(named: "all")
        #expect(try await orders.lookup(id: "x")?["a"] == "old")
        service.change()
        try await orders.pull(named: "all")
        let row = try #require(try await orders.lookup(id: "x"))
        #expect(row["a"] == "new" && row["b"] == "kept")
    }
}
