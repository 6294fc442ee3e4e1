import Foundation
import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceLua
@testable import SluiceSync
@testable import SluiceWire

@Suite("System properties, built in and as a plugin")
struct SystemPropertiesTwiceTests {
    /// The exchanges of the plugin's fixtures.
    static let fixtures: [String] = {
        let folder = BundledPluginsTests.folder.appendingPathComponent("system-properties/tests").path
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".json") }
            .sorted()
    }()

    @Test("each fixture is the same by both", arguments: fixtures)
    func fixture(name: String) async throws {
        let file = BundledPluginsTests.folder.appendingPathComponent("system-properties/tests/\(name)")
        let json = try JSON(parsing: Array(Data(contentsOf: file)))
        let config = json["config"] ?? .object
        let wire = config["wire"]?.string ?? "azure-v1"
        let dialect = try #require(SystemPropertiesTwice.dialects.first { $0.name == wire })
        func names(_ json: JSON?) -> [String]? { json?.elements?.compactMap(\.string) }
        let tables = (config["tables"]?.members ?? []).map { ($0.name.text, names($0.value) ?? []) }
        let twice = try await SystemPropertiesTwice(
            dialect,
            SystemProperty.Selection(
                names(config["ask_for"]) ?? ["*"], tables: Dictionary(tables, uniquingKeysWith: { $1 })))
        let reply = json["host"]?["next"]?[0] ?? .object
        let (builtIn, plugin) = await twice.outcomes(
            try request(json["given"]?["request"] ?? .null), response(reply))
        #expect(builtIn == plugin)
        #expect((json["expect"]?["error"] != nil) == (plugin.answer == nil))
    }

    private func request(_ json: JSON) throws -> SyncRequest {
        let method = try #require(HTTPRequest.Method(json["method"]?.string ?? "GET"))
        var head = HTTPRequest(
            method: method, scheme: "https", authority: "example.net", path: json["path"]?.string ?? "/")
        fields(json["headers"], &head.headerFields)
        let action = try #require(SyncRequest.Context.Action(rawValue: json["kind"]?.string ?? ""))
        let source = try #require(SyncRequest.Context.Source(rawValue: json["source"]?.string ?? ""))
        let context = SyncRequest.Context(
            source: source, action: action, table: json["table"]?.string, version: json["version"]?.string)
        return SyncRequest(head, body: body(json["body"]), context: context)
    }

    private func response(_ json: JSON) -> SyncResponse {
        var head = HTTPResponse(status: .init(code: Int(json["status"]?.int ?? 200)))
        fields(json["headers"], &head.headerFields)
        return SyncResponse(head, body: body(json["body"]))
    }

    private func fields(_ json: JSON?, _ fields: inout HTTPFields) {
        for (name, value) in json?.members ?? [] { HTTPField.Name(name.text).map { fields[$0] = value.string ?? "" } }
    }

    private func body(_ json: JSON?) -> MessageBody {
        guard let json, !json.isNull else { return .empty }
        return json.string.map { MessageBody(bytes: Array($0.utf8)) } ?? MessageBody(bytes: json.bytes())
    }

    @Test("so is whatever else is sent and answered", arguments: [1, 2, 3, 4] as [UInt64])
    func random(seed: UInt64) async throws {
        var chance = SeededGenerator(seed: seed)
        for dialect in SystemPropertiesTwice.dialects {
            for selection in [["*"], [], ["__version"], ["Version", "createdat"]] {
                let twice = try await SystemPropertiesTwice(dialect, SystemProperty.Selection(selection))
                for _ in 0..<60 {
                    let (request, response) = (Self.request(&chance), Self.response(&chance))
                    let (builtIn, plugin) = await twice.outcomes(request, response)
                    #expect(
                        builtIn == plugin,
                        "\(dialect) \(selection) \(request.context.source) \(request.context.action) \(request.context.version ?? "-")"
                    )
                }
            }
        }
    }

    private static func request(_ chance: inout SeededGenerator) -> SyncRequest {
        let queries = [
            "", "?", "?a=b", "?a=b&", "?__systemProperties=__version", "?a=b&__SYSTEMproperties=deleted%2Cx&c=d",
        ]
        let methods: [HTTPRequest.Method] = [.get, .post, .patch, .put, .delete]
        let actions = SyncRequest.Context.Action.allCases
        let versions = [nil, "", "v", #"a"b"#, #"a\"b"#, "a b", "Grüße", "a\nb"]
        var head = HTTPRequest(
            method: pick(methods, &chance), scheme: "https", authority: "example.net",
            path: "/tables/t" + pick(queries, &chance))
        if pick([true, false, false, false], &chance) { head.headerFields[.ifMatch] = "*" }
        var context = SyncRequest.Context(
            source: pick([.online, .push, .pull], &chance), action: pick(actions, &chance),
            table: pick(["t", "t", "t", nil], &chance), version: pick(versions, &chance))
        context.systemProperties = pick([nil, nil, nil, [], ["*"], ["__deleted"]], &chance)
        return SyncRequest(head, body: MessageBody(bytes: Array(bodyText(&chance).utf8)), context: context)
    }

    private static func response(_ chance: inout SeededGenerator) -> SyncResponse {
        var head = HTTPResponse(status: .init(code: pick([200, 200, 201, 204, 304, 400, 409, 412, 500], &chance)))
        let tag = pick([nil, #""b""#, #"W/"17-x""#, #""b\"c""#, "b", #"""#, #""""#], &chance)
        if let tag { head.headerFields[.eTag] = tag }
        return SyncResponse(head, body: MessageBody(bytes: Array(bodyText(&chance).utf8)))
    }

    private static func bodyText(_ chance: inout SeededGenerator) -> String {
        let record = record(&chance)
        return pick(
            [
                "", record, record, record, "[\(record), {}]", #"{"results": [\#(record)], "count": 1}"#,
                #"{"items": [\#(record), 5]}"#, #"{"items": []}"#, "<html>", "5", "null", "1.10", "[]", "{}",
            ], &chance)
    }

    private static func record(_ chance: inout SeededGenerator) -> String {
        let members = [
            #""id": "1""#, #""id": 7"#, #""__version": "x""#, #""__version": null"#, #""__version": """#,
            #""version": "y""#,
            #""version": 5"#, #""__updatedAt": "u""#, #""updatedAt": "u""#, #""__deleted": true"#, #""deleted": false"#,
            #""__createdAt": "c""#, #""createdAt": null"#, #""__x": {"a": 1}"#, #""_c": 1.10"#,
            #""a": [1, {"__y": 2}]"#,
            #""items": "none""#,
        ]
        var names: Set<Substring> = []
        let some = members.filter { member in
            pick([true, false], &chance) && names.insert(member.prefix { $0 != ":" }).inserted
        }
        return "{\(some.joined(separator: ", "))}"
    }

    private static func pick<Value>(_ values: [Value], _ chance: inout SeededGenerator) -> Value {
        values[Int.random(in: values.indices, using: &chance)]
    }
}
