import Foundation
import HTTPTypes
import Sluice
import Testing

/// A service that somebody else wrote, behind the proxy that loses answers: `.ci/peers` starts both and says where.
struct Peer: Sendable {
    let root: String
    let service: String
    let version: ODataVersion
    let transport = AsyncHTTPTransport()

    static let odatapy = environment("SLUICE_PEER_ODATAPY").map { Peer(root: $0, service: "", version: .v4) }
    static let sapV2 = environment("SLUICE_PEER_SAP").map {
        Peer(root: $0, service: "/sap/opu/odata/IWBEP/GWSAMPLE_BASIC", version: .v2)
    }
    static let sapV4 = environment("SLUICE_PEER_SAP").map {
        Peer(
            root: $0, service: "/sap/opu/odata4/sap/api_businesspartner/srvd_a2x/sap/api_businesspartner/0001",
            version: .v4)
    }

    static var areHere: Bool { odatapy != nil && sapV2 != nil }

    private static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// A client of the service, on the usual transport or another.
    func client(
        _ settings: ODataSettings = ODataSettings(), through other: (any Transport)? = nil
    ) throws -> SluiceClient {
        SluiceClient(
            endpoint: try Endpoint(root + service), dialect: .odata(version, settings), transport: other ?? transport,
            options: ClientOptions(retry: .never))
    }

    /// A device: a store of its own, in memory.
    func device(
        _ settings: ODataSettings = ODataSettings(), store: any LocalStore = MemoryStore(), batchSize: Int? = nil,
        environment: SyncEnvironment = .system
    ) async throws -> SyncContext {
        try await SyncContext(
            client: client(settings), store: store, tables: [],
            options: SyncOptions(batchSize: batchSize, environment: environment))
    }

    /// Sends a request to the service as anybody could, and gives back status and body.
    @discardableResult
    func call(_ method: String, _ path: String, _ body: String? = nil, _ fields: [String: String] = [:]) async throws
        -> (status: Int, json: JSON, fields: HTTPFields)
    {
        let endpoint = try Endpoint(root)
        let method = try #require(HTTPRequest.Method(method))
        var head = HTTPRequest(method: method, scheme: "http", authority: endpoint.authority, path: path)
        head.headerFields[.accept] = "application/json"
        if body != nil { head.headerFields[.contentType] = "application/json" }
        for (name, value) in fields { head.headerFields[try #require(HTTPField.Name(name))] = value }
        let response = try await transport.send(SyncRequest(head, body: MessageBody(bytes: Array((body ?? "").utf8))))
        return (response.status, (try? response.body.json) ?? .null, response.head.headerFields)
    }

    /// What the proxy does to the next requests that fit: `[{"method": "POST", "fault": "lose"}]`.
    func fail(_ faults: String) async throws { try await call("POST", "/__faults", faults) }

    /// The changes that reached the service and were carried out since the last call, such as `PATCH 204`.
    func changes() async throws -> [String] {
        try await call("GET", "/__log").json.elements?.compactMap { entry in
            guard let method = entry[0]?.string, method != "GET", let status = entry[2]?.int, status < 300 else {
                return nil
            }
            return method
        } ?? []
    }

    /// The token that mock-sap wants with each change, and its cookie.
    func session() async throws -> [String: String] {
        let answer = try await call("GET", service + "/", nil, ["X-CSRF-Token": "Fetch"])
        let token = HTTPField.Name("X-CSRF-Token").flatMap { answer.fields[$0] } ?? ""
        let cookie = answer.fields[.setCookie]?.split(separator: ";").first.map(String.init) ?? ""
        return ["X-CSRF-Token": token, "Cookie": cookie]
    }
}
