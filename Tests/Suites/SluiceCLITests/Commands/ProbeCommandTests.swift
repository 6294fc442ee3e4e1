import Foundation
import Sluice
import Testing

/// `sluice probe` as a person uses it, against `sluice serve` and servers that are none.
@Suite(.timeLimit(.minutes(5))) struct ProbeCommandTests {
    private static let tables = "{ notes: {}, probes: { columns: { title: string, count: integer, due: date } } }"

    @Test(
        "nothing is wrong with sluice serve on any wire; its settings are ones that the configuration reads",
        arguments: ["azure-v1", "azure-v2", "azure-v3", "datasync", "odata-v2", "odata-v4"])
    func serve(dialect: String) async throws {
        try await withServer(tables: Self.tables) { server, scratch in
            let path = dialect.hasPrefix("odata") ? "/odata/\(dialect.suffix(2))" : ""
            let address = server.endpoint + path
            let to = ["probe", address, "--dialect", dialect, "--table", "probes"]
            let read = try await Program.sluice.run(to)
            #expect(read.status == 0 && read.errors == "", "\(read)")
            #expect(read.output.contains("read only"))
            let written = try await Program.sluice.run(to + ["--write", "probes", "--json"])
            #expect(written.status == 0 && written.errors == "", "\(written)")
            #expect(try written.json["findings"]?.count == 0)
            let settings = try written.json["settings"]?.elements?.compactMap(\.string) ?? []
            let file = try scratch.write("sync.yaml", settings.joined(separator: "\n") + "\n")
            let again = try await Program.sluice.run(["probe", "--config", file, "--json"])
            #expect(again.status == 0, "\(again)")
            #expect(try again.json["dialect"]?.string == dialect)
            #expect(try again.json["table"] == "probes")
        }
    }

    @Test("the exit status is that of the worst finding; a token is not printed, nor a server's escapes")
    func statuses() async throws {
        try await withScratch { scratch in
            let token = try scratch.write("token", "a-secret-token")
            let page = #"{"error":"\u001b[2J a-secret-token"}"#
            let failing = try RawServer(
                "HTTP/1.1 500 X\r\nContent-Type: application/json\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)")
            let fault = try await Program.sluice(
                "probe", "http://127.0.0.1:\(failing.port)", "--table", "notes", "--token-file", token)
            #expect(fault.status == 7, "\(fault)")
            #expect(fault.output.contains("FAULT  failing:"))
            #expect(!fault.output.contains("a-secret-token") && !fault.output.contains("\u{1b}"), "\(fault)")

            let rows = #"[{"id":"a","version":"1","updatedAt":"2024-01-01T00:00:00.000Z","deleted":false}]"#
            let stubborn = try RawServer(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(rows.utf8.count)\r\n\r\n\(rows)"
            )
            let worse = try await Program.sluice(
                "probe", "http://127.0.0.1:\(stubborn.port)", "--table", "notes", "--json")
            #expect(worse.status == 7, "\(worse)")
            #expect(try worse.json["findings"]?.elements?.contains { $0["code"] == "clockMissing" } == true)

            let refused = try RawServer("HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n")
            let access = try await Program.sluice("probe", "http://127.0.0.1:\(refused.port)", "--table", "notes")
            #expect(access.status == 4, "\(access)")
            let away = try await Program.sluice("probe", "http://127.0.0.1:9", "--table", "notes", "--json")
            #expect(away.status == 3, "\(away)")
            #expect(try away.json["error"]?["code"] == "network")
        }
    }

    @Test("arguments that mean nothing are usage errors") func usage() async throws {
        for arguments in [
            ["probe", "http://127.0.0.1:9"], ["probe", "--table", "t"], ["probe", "nowhere", "--table", "t"],
            ["probe", "http://127.0.0.1:9", "--table", "t", "--requests", "0"],
            ["probe", "http://127.0.0.1:9", "--table", "t", "--time", "soon"],
            ["probe", "http://127.0.0.1:9", "--endpoint", "http://127.0.0.1:9", "--table", "t"],
            ["probe", "http://127.0.0.1:9", "--table", "a/b"],
        ] {
            let result = try await Program.sluice.run(arguments)
            #expect(result.status == 2, "\(arguments): \(result)")
        }
    }
}
