import Foundation
import HTTPTypes
import Logging
import SluiceCore
import Testing

@testable import SluiceBackend
@testable import SluiceDaemon

/// The page of a fleet: who sees it, and what it shows of many devices.
@Suite struct FleetPageTests {
    private static let token = "operator-token-0001"

    private static func row(_ id: String, _ members: JSON = .object) -> JSON {
        let now = SyncEnvironment.system.now().description
        let row: JSON = [
            "id": JSON(id), "name": "shops", "serving": 2, "stage": "settled", "newest": 2,
            "figures": #"{"calls":10,"errors":0}"#, "withdrawn": "{}", "labels": "ring=canary", "reportedAt": JSON(now),
        ]
        return row.setting(members)
    }

    /// Asks pages as a listener behind a proxy with TLS does.
    private struct Asked: Sendable {
        let pages: OperatorPages

        func callAsFunction(
            _ method: HTTPRequest.Method, _ path: String, _ text: String = "", _ fields: [HTTPField.Name: String] = [:]
        ) async -> SyncResponse {
            var head = HTTPRequest(method: method, scheme: "https", authority: "fleet.example", path: path)
            for (name, value) in fields { head.headerFields[name] = value }
            return await pages.reply(to: SyncRequest(head, body: MessageBody(bytes: Array(text.utf8))))
        }
    }

    /// A table of devices with those rows.
    private static func table(_ rows: [JSON]) -> BackendConfiguration.Table {
        .init("policy_status", seed: .records(rows), softDelete: true, columns: [.init("name", .string)])
    }

    /// Runs `body` with the pages of a backend with those rows, and with the token's file.
    private func withPages(_ rows: [JSON], _ body: (Asked, String) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("operator-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "\(Self.token)\n".write(toFile: file, atomically: true, encoding: .utf8)
        var configuration = BackendConfiguration(tables: [Self.table(rows)])
        configuration.fleet = .init(tokenFile: file)
        let backend = try await Backend(configuration)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let pages = try #require(try FleetRoutes(backend, logger)).pages
        try await body(Asked(pages: pages), file)
        try await backend.close()
    }

    private func text(_ response: SyncResponse) -> String { String(decoding: response.body.bytes, as: UTF8.self) }

    @Test("only who has the token sees it: by a header, or by a cookie that a form sets; another token ends both")
    func access() async throws {
        try await withPages([Self.row("d1")]) { ask, file in
            let right = [HTTPField.Name.authorization: "Bearer \(Self.token)"]
            #expect(await ask(.get, "/fleet.json").status == 401)
            #expect(await ask(.get, "/fleet.json", "", [.authorization: "Bearer operator-token-0002"]).status == 401)
            #expect(await ask(.get, "/fleet.json", "", [.authorization: "Basic \(Self.token)"]).status == 401)
            let document = try await ask(.get, "/fleet.json", "", right).body.json
            #expect(document["devices"]?[0]?["device"] == "d1")
            let form = await ask(.get, "/fleet")
            #expect(form.status == 401 && text(form).contains("<form") && !text(form).contains("d1"))
            let field = try #require(HTTPField.Name("Content-Security-Policy"))
            let policy = form.head.headerFields[field] ?? ""
            #expect(policy.hasPrefix("default-src 'none'; style-src 'self'") && !policy.contains("script-src"))
            #expect(await ask(.post, "/fleet", "token=operator-token-0002").status == 401)
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            #expect(await ask(.post, "/fleet", "token=\(Self.token)", [site: "cross-site"]).status == 403)
            let signed = await ask(.post, "/fleet", "token=+\(Self.token)")
            #expect(signed.status == 303 && signed.head.headerFields[.location] == "/fleet")
            let cookie = signed.head.headerFields[.setCookie] ?? ""
            #expect(cookie.hasSuffix("; Path=/fleet; HttpOnly; SameSite=Strict; Secure"), "the scheme is https")
            #expect(!cookie.contains(Self.token))
            let session = [HTTPField.Name.cookie: String(cookie.prefix { $0 != ";" })]
            #expect(text(await ask(.get, "/fleet", "", session)).contains("d1"))
            #expect(await ask(.head, "/fleet", "", session).body.bytes.isEmpty)
            #expect(await ask(.get, "/fleet.css").status == 200)
            #expect(await ask(.delete, "/fleet", "", session).status == 405)
            try "another-token-00001\n".write(toFile: file, atomically: true, encoding: .utf8)
            #expect(await ask(.get, "/fleet", "", session).status == 401)
            #expect(await ask(.get, "/fleet.json", "", right).status == 401)
        }
    }

    @Test("of 1,000 devices those that need a look come first, and the page says how many it leaves out")
    func many() async throws {
        var rows = (0..<996).map { Self.row("d\($0)") }
        rows.append(Self.row("z-silent", ["reportedAt": "2020-01-01T00:00:00Z"]))
        rows.append(Self.row("z-returned", ["withdrawn": #"{"2":"3 of 9 calls failed"}"#, "serving": 1]))
        rows.append(Self.row("z-failing", ["figures": #"{"calls":10,"errors":4}"#, "short": true]))
        rows.append(
            Self.row("z-evil", ["labels": "<script>alert(1)</script>'\"&", "stage": "\u{202E}\n", "reportedAt": "no"]))
        try await withPages(rows) { ask, _ in
            let right = [HTTPField.Name.authorization: "Bearer \(Self.token)"]
            let page = text(await ask(.get, "/fleet", "", right))
            #expect(page.contains("<h2>1,000 devices</h2>"))
            #expect(page.contains("2 silent, 1 returned, 1 failing, 996 well"))
            #expect(page.contains("500 more are not shown: 500 well."))
            #expect(page.contains("<li>999 devices with version 2</li><li>1 device with version 1</li>"))
            #expect(page.components(separatedBy: "<tr>").count == 502)
            let places = ["z-evil", "z-silent", "z-returned", "z-failing", ">d0<"].compactMap {
                page.range(of: $0)?.lowerBound
            }
            #expect(places.count == 5 && places == places.sorted())
            #expect(!page.contains("<script"))
            #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&#39;&quot;&amp;"))
            #expect(!page.contains("\u{202E}") && page.contains("2: 3 of 9 calls failed"))
            #expect(page.contains(", in short"))
            let json = try await ask(.get, "/fleet.json", "", right).body.json
            #expect(json["devices"]?.count == 1000 && json["unread"] == nil)
            #expect(json["devices"]?[2]?["state"] == "returned" && json["devices"]?[2]?["silent"] == false)
        }
    }

    @Test("rows beyond the bounds are counted as not read, and tombstones are no devices")
    func bounds() async throws {
        let rows: [JSON] = (1...5).map { Self.row("d\($0)") } + [Self.row("gone", ["deleted": true])]
        let backend = try await Backend(BackendConfiguration(tables: [Self.table(rows)]))
        let few = try await backend.rows(of: "policy_status", most: 2, bytes: .max) { $0["id"]?.string }
        #expect(few.rows == ["d1", "d2"] && few.unread == 3)
        let small = try await backend.rows(of: "policy_status", most: 9, bytes: 1) { $0["id"]?.string }
        #expect(small.rows == ["d1"] && small.unread == 4)
        let all = try await backend.rows(of: "policy_status", most: 5, bytes: .max) { $0["id"]?.string }
        #expect(all.rows.count == 5 && all.unread == 0)
        let error = await #expect(throws: SluiceError.self) {
            _ = try await backend.rows(of: "nothing", most: 1, bytes: 1) { $0["id"]?.string }
        }
        #expect(error?.code == .invalidTable)
        try await backend.close()
    }
}
