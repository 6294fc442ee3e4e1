import HTTPTypes
import SluiceCore

@testable import SluiceBackend
@testable import SluiceWire

/// Customers and their orders, served as OData.
struct ODataFixture {
    let base: BackendFixture

    init(
        odata: BackendConfiguration.OData = .init(namespace: "Shop"), pageSize: Int = 100,
        hooks: [String: any TableHooks] = [:], operations: [ODataOperation] = [], perUser: Bool = false
    ) async throws {
        var customers = BackendConfiguration.Table(
            "customers", pageSize: pageSize,
            columns: [
                .init("name", .string), .init("points", .integer), .init("rate", .real), .init("active", .boolean),
                .init("since", .date), .init("tags", .json), .init("owner", .string),
            ], perUser: perUser ? "owner" : nil)
        customers.view = try QueryExpression(odata: "name ne 'hidden'")
        var orders = BackendConfiguration.Table(
            "orders", pageSize: pageSize,
            columns: [.init("customerId", .string), .init("total", .integer), .init("owner", .string)],
            perUser: perUser ? "owner" : nil)
        orders.references = [.init("customer", column: "customerId", table: "customers", inverse: "orders")]
        base = try await BackendFixture(
            tables: [customers, orders], authentication: perUser ? .init(secret: .text(TestToken.secret)) : nil,
            hooks: hooks, odata: odata, operations: operations)
    }

    func v4(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", headers: [(String, String)] = []
    ) async -> Answer {
        await base.send(method, "/odata/v4/" + path, body, headers: headers, json: true, version: nil)
    }

    func v2(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", headers: [(String, String)] = []
    ) async -> Answer {
        await base.send(method, "/odata/v2/" + path, body, headers: headers, json: true, version: nil)
    }

    /// Customers `c1` to `c<count>` with an order each.
    func plant(_ count: Int) async {
        for number in 1...count {
            _ = await v4(.post, "customers", #"{"id":"c\#(number)","name":"N\#(number)","points":\#(number)}"#)
            _ = await v4(.post, "orders", #"{"id":"o\#(number)","customerId":"c\#(number)","total":\#(number)0}"#)
        }
    }
}

extension Answer {
    /// The ids of a list.
    var keys: [String] {
        (json["value"] ?? json["d"]?["results"])?.elements?.compactMap { $0["id"]?.string } ?? []
    }
    var text: String { String(decoding: response.body.bytes, as: UTF8.self) }
    /// The path and query of a link in the body.
    func path(_ name: String) -> String? {
        let link = (json[name] ?? json["d"]?[name])?.string
        return link.map { String($0.dropFirst("http://127.0.0.1:8080/odata/v4/".count)) }
    }
}
