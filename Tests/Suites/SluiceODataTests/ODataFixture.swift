import HTTPTypes
import SluiceCore
import SluiceTesting

@testable import SluiceOData

/// An OData client over a script, with a set that needs no metadata.
struct ODataFixture {
    let script: ScriptedTransport
    let client: SluiceClient

    static let base = "http://odata.example/svc"

    init(
        _ version: ODataVersion, _ settings: ODataSettings? = nil, _ steps: [ScriptedTransport.Step]
    ) throws {
        script = ScriptedTransport(steps)
        let settings = settings ?? ODataSettings(tables: ["Orders": Self.orders])
        client = SluiceClient(
            endpoint: try Endpoint(Self.base), dialect: .odata(version, settings), transport: script,
            options: ClientOptions(retry: .never))
    }

    /// The settings of a set with a text for its key.
    static let orders = ODataSettings.Table(key: [.init("Number", .string)])

    var orders: OnlineTable<JSON> { client.table("Orders") }

    /// The requests so far: method and path below the service's root.
    var sent: [String] {
        script.requests.map { "\($0.head.method.rawValue) \(($0.head.path ?? "").dropFirst("/svc".count))" }
    }

    /// A header field of a request.
    func field(_ name: String, of index: Int) -> String? {
        HTTPField.Name(name).flatMap { name in
            script.requests.dropFirst(index).first?.head.headerFields[name]
        }
    }

    func body(of index: Int) throws -> JSON { try script.requests.dropFirst(index).first?.body.json ?? .null }
}

extension ScriptedTransport.Step {
    /// An answer of v2 with one row.
    static func row(
        _ number: String, _ tag: String, _ more: String = "", status: Int = 200, version: ODataVersion = .v4
    ) -> Self {
        let tag = tag.replacing("\"", with: "\\\"")
        switch version {
        case .v2:
            return .json(
                status,
                #"{"d":{"__metadata":{"uri":"http://other/Orders('\#(number)')","etag":"\#(tag)"},"Number":"\#(number)"\#(more)}}"#
            )
        case .v4:
            return .json(
                status,
                #"{"@odata.context":"$metadata#Orders/$entity","@odata.etag":"\#(tag)","Number":"\#(number)"\#(more)}"#)
        }
    }
}
