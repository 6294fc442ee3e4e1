import SluiceCore
import Testing

@testable import SluiceBackend

@Suite("Configuration") struct BackendConfigurationTests {
    private func read(_ text: String) throws -> BackendConfiguration {
        try BackendConfiguration(yaml: text, file: "backend.yaml", directory: "/srv/data")
    }

    @Test("The file of the documentation is read") func whole() throws {
        let configuration = try read(
            """
            database: sqlite:backend.db        # or sqlite::memory:
            tables:
              movies: { seed: movies.json, pageSize: 50, maxTop: 500, softDelete: false }
              notes:
                columns: { text: string, at: date }
              plain:
            """)
        #expect(
            configuration
                == BackendConfiguration(
                    database: .sqlite(path: "/srv/data/backend.db"),
                    tables: [
                        .init(
                            "movies", seed: .file(path: "/srv/data/movies.json"), pageSize: 50, maxTop: 500,
                            softDelete: false),
                        .init("notes", columns: [.init("text", .string), .init("at", .date)]), .init("plain"),
                    ]))
        #expect(try read("database: \"sqlite::memory:\"\ntables: {t: }").database == .memory)
        #expect(configuration.requestIdsExpire == .seconds(86_400))
        #expect(
            try read("database: sqlite:x\nrequestIdsExpire: 2h\ntables: {t: }").requestIdsExpire == .seconds(7200))
    }

    @Test(
        "A mistake is named with its line and column, and a misspelt key with the one that was meant",
        arguments: [
            ("database: sqlite:x\ntables:\n  t: { pagesize: 5 }", "backend.yaml:3:8: ", "did you mean pageSize?"),
            ("databse: sqlite:x\ntables: {t: }", "backend.yaml:1:1: ", "did you mean database?"),
            (
                "database: sqlite:x\ntables: {t: }\nzebra: 1", "backend.yaml:3:1: ",
                "known are database, replica, auth, tables"
            ),
            ("database: mysql:x\ntables: {t: }", "backend.yaml:1:11: ", "sqlite:PATH"),
            ("database: sqlite:x", "backend.yaml:1:1: ", "tables is missing"),
            ("database: sqlite:x\nrequestIdsExpire: 0s\ntables: {t: }", "backend.yaml:2:19: ", "such as 30d"),
            ("database: sqlite:x\ntables: [t]", "backend.yaml:2:9: ", "mapping"),
            ("database: sqlite:x\ntables:\n  t: { pageSize: many }", "backend.yaml:3:18: ", "whole number"),
            ("database: sqlite:x\ntables:\n  t: { pageSize: 0 }", "backend.yaml:3:18: ", "pageSize is 1 to"),
            ("database: sqlite:x\ntables:\n  t: { softDelete: 3 }", "backend.yaml:3:20: ", "true or false"),
            (
                "database: sqlite:x\ntables:\n  t: { columns: {a: sting} }", "backend.yaml:3:21: ",
                "did you mean string?"
            ),
            ("database: sqlite:x\ntables:\n  1t:", "backend.yaml:3:3: ", "begins with a letter"),
            ("database: sqlite:x\ntables: {t: , T: }", "backend.yaml:2:15: ", "two tables"),
            ("database: sqlite:x\ntables:\n  t: { columns: {version: string} }", "backend.yaml:3:17: ", "server's own"),
            ("database: [", "backend.yaml:", "not valid YAML"), ("", "backend.yaml: ", "empty"),
        ])
    func mistakes(text: String, place: String, reason: String) {
        let error = #expect(throws: SluiceError.self) { _ = try read(text) }
        #expect(error?.message.hasPrefix(place) == true, "\(String(describing: error))")
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    }
}
