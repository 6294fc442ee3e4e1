import ArgumentParser
import Foundation
import Sluice
import Testing

@testable import SluiceCLI
@testable import SluiceDaemon

@Suite struct SyncConfigurationTests {
    @Test("a whole configuration is read, with paths relative to the file")
    func whole() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = try scratch.write(
            "sync.yaml",
            """
            endpoint: http://127.0.0.1:8080/app
            store: data/local.db
            dialect: azure-v2
            conflicts: server-wins
            durability: normal
            token-file: /etc/token
            token-scheme: bearer
            tables:
              movies:
                columns: { title: string, year: integer }
                indexes: [year, [year, title]]
                local: [note, "seen at"]
              notes:
              drafts: { local: true }
            migrations:
              names:
                - { table: films, rename-table: movies }
                - { table: movies, rename: name, to: title }
                - { table: movies, retype: year, to: integer }
                - { table: movies, drop: color }
                - { table: old, drop-table: discard }
              none: []
            """)
        let configuration = try ClientSettings(ConnectionOptions.parse(["--config", path]), environment: [:])
        #expect(configuration.endpoint == "http://127.0.0.1:8080/app")
        #expect(configuration.store == scratch.file("data/local.db"))
        #expect(configuration.conflicts == .serverWins)
        #expect(configuration.durability == .normal)
        #expect(configuration.tokenScheme == .bearer)
        let movies = TableSchema(
            "movies", columns: [.init("title", .string), .init("year", .integer)],
            indexes: [["year"], ["year", "title"]])
        #expect(configuration.tables == [movies, TableSchema("notes"), TableSchema("drafts")])
        #expect(configuration.localOnly == LocalOnly(tables: ["drafts"], columns: ["movies": ["note", "seen at"]]))
        #expect(configuration.migrations.map(\.name) == ["names", "none"])
        #expect(configuration.migrations.map(\.steps.count) == [5, 0])
    }

    @Test(
        "a mistake is told with file, line and column",
        arguments: [
            ("endpont: http://x", "sync.yaml:1:1: unknown key endpont"),
            ("store: a\nstore: b", "sync.yaml:1:1: repeated key"),
            ("store: [a]", "sync.yaml:1:8: store must be a text"),
            ("store:\n  - a: [", "sync.yaml:3:"), ("conflicts: perhaps", "sync.yaml:1:12: conflicts cannot be perhaps"),
            ("tables:\n  t:\n    columns: { a: money }", "sync.yaml:3:19: a cannot be money"),
            ("tables:\n  t: { colums: {} }", "sync.yaml:2:8: unknown key colums"),
            ("tables:\n  t: { local: maybe }", "sync.yaml:2:15: local must be a list"),
            ("migrations:\n  a:\n    - { table: t }", "sync.yaml:3:7: a step needs a table and one of"),
            ("migrations:\n  a:\n    - { table: t, rename: x }", "sync.yaml:3:7: a step needs to, beside rename"),
            ("migrations:\n  a:\n    - { table: t, drop: x, to: y }", "sync.yaml:3:7: a step has no to"),
            ("migrations:\n  a:\n    - { table: t, retype: x, to: money }", "sync.yaml:3:34: to cannot be money"),
            ("tables: 5", "sync.yaml:1:9: tables must be a mapping"),
            ("- a", "sync.yaml:1:1: the file must be a mapping"),
            ("", "sync.yaml: the file is empty"),
        ])
    func mistakes(_ text: String, _ message: String) throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = try scratch.write("sync.yaml", text)
        do {
            _ = try ClientSettings(ConnectionOptions.parse(["--config", path]), environment: [:])
            Issue.record("nothing was refused")
        } catch {
            #expect(ExitStatus(error) == .usage)
            #expect("\(error)".contains(message), "\(error)")
        }
    }

    @Test("what the file says of columns that stay here and of migrations is done")
    func shapes() async throws {
        try await withScratch { scratch in
            let first = try scratch.write("first.yaml", "store: m.db\ntables: { notes: { local: [remark] } }\n")
            let made = #"{"id":"n1","text":"t","remark":"r"}"#
            #expect(try await Program.sluice.run(["insert", "notes", made, "--config", first]).status == 0)
            let waiting = try await Program.sluice.run(["queue", "export", "--config", first])
            #expect(waiting.output.contains("text") && !waiting.output.contains("remark"))
            let second = try scratch.write(
                "second.yaml", "store: m.db\nmigrations: { titles: [{ table: notes, rename: text, to: title }] }\n")
            for _ in 0..<2 {
                let got = try await Program.sluice.run(["get", "notes", "n1", "--config", second, "--json"])
                #expect(try JSON(parsing: got.output) == ["id": "n1", "title": "t", "remark": "r"])
            }
        }
    }

    @Test("flags win over the environment, and the environment over the file")
    func order() async throws {
        try await withScratch { scratch in
            let config = try scratch.write(
                "sync.yaml", "store: file.db\ntables: { notes: { columns: { n: integer } } }\n")
            let variables = ["SLUICE_STORE": scratch.file("environment.db")]
            let insert = ["insert", "notes", #"{"id":"n1","n":5}"#, "--config", config]
            #expect(try await Program.sluice.run(insert, environment: variables, in: "/").status == 0)
            let flag = ["--store", scratch.file("flag.db")]
            #expect(try await Program.sluice.run(insert + flag, environment: variables).status == 0)
            #expect(!FileManager.default.fileExists(atPath: scratch.file("file.db")))
            #expect(try await Program.sluice.run(insert, in: "/").status == 0)
            for name in ["environment.db", "flag.db", "file.db"] {
                let rows = try await Program.sqlite(scratch.file(name), "SELECT n, typeof(n) FROM notes")
                #expect(rows.output == "5|integer\n")
            }
        }
    }

    @Test("sync without tables takes those of the configuration")
    func tables() async throws {
        try await withServer { server, scratch in
            let config = try scratch.write(
                "sync.yaml", "endpoint: \(server.endpoint)\nstore: local.db\ntables: { notes: }\n")
            let result = try await Program.sluice("sync", "--config", config, "--json")
            #expect(result.status == 0)
            #expect(try result.json["pulls"]?[0]?["table"] == "notes")
        }
    }

    @Test("the token goes to the server, from a file or from the environment")
    func token() async throws {
        let file = FileToken(source: .file("/nonexistent"))
        await #expect(throws: SluiceError.self) { try await file.token() }
        let text = FileToken(source: .text("t"))
        #expect(try await text.token() == "t")
        #expect(try await text.refresh(refused: "t") == nil)
        let settings = try ClientSettings(ConnectionOptions.parse([]), environment: ["SLUICE_TOKEN": "t"])
        #expect(try await settings.token?.provider().token() == "t")
    }
}
