import Foundation
import RepositoryFiles
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceDaemon

@Suite struct SettingsTests {
    private func file(_ text: String) throws -> SettingsFile {
        let path = "/tmp/sluice-settings-\(UUID().uuidString).yaml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try SettingsFile(path: path)
    }

    @Test("every setting is read from the file, the environment and a flag, and each is refused where it cannot be")
    func everySetting() throws {
        for setting in Setting.all {
            let (good, other, bad) = Self.examples(setting.form)
            let environment = try Settings(SettingsFile(), environment: [setting.variable: other])
            #expect(environment.value(setting.key)?.text == other, "\(setting.key)")
            #expect(environment.value(setting.key)?.origin == .variable(setting.variable))
            if let bad {
                #expect(throws: SluiceError.self, "\(setting.key)") {
                    try Settings(SettingsFile(), environment: [setting.variable: bad])
                }
            }
            // A secret stands in no file and in no flag, which others can read.
            guard !setting.isSecret else {
                #expect(throws: SluiceError.self) { try self.file("\(setting.key): x\n") }
                #expect(throws: SluiceError.self) {
                    try Settings(SettingsFile(), flags: [setting.key: ["x"]], environment: [:])
                }
                continue
            }
            let value = setting.form == .list ? "[\(good)]" : "\"\(good)\""
            let text = setting.group.map { "\($0): { \(setting.name): \(value) }\n" } ?? "\(setting.key): \(value)\n"
            let file = try file(text)
            #expect(try Settings(file, environment: [:]).value(setting.key)?.text == good, "\(setting.key)")
            let both = try Settings(file, environment: [setting.variable: other])
            #expect(both.value(setting.key)?.text == other)
            let all = try Settings(file, flags: [setting.key: [good]], environment: [setting.variable: other])
            #expect(all.value(setting.key)?.text == good)
        }
    }

    /// Two values that a form takes, and one that it does not.
    private static func examples(_ form: SettingForm) -> (String, String, String?) {
        switch form {
        case .text, .path: ("one", "two", nil)
        case .integer(let range): ("\(range.lowerBound)", "\(range.upperBound)", "\(range.upperBound + 1)")
        case .flag: ("true", "false", "yes")
        case .duration(let range): (DurationText.text(range.upperBound), "2s", "2")
        case .choice(let choices): (choices[0], choices[1], "none of them")
        case .list: ("a", "b", nil)
        }
    }

    @Test("what is said of an endpoint counts for it alone, what is at the top for all")
    func endpoints() throws {
        let file = try file(
            """
            batch: 5
            tables: { common: }
            endpoints:
              a: { endpoint: "http://a", store: a.db }
              b: { endpoint: "http://b", store: b.db, batch: 7, tables: { own: } }
            """)
        let settings = try Settings(file, environment: ["SLUICE_ENDPOINTS_A_CONCURRENCY": "3"])
        let a = try ClientSettings(file, settings, endpoint: "a", environment: [:])
        let b = try ClientSettings(file, settings, endpoint: "b", environment: [:])
        #expect((a.batch, b.batch) == (5, 7))
        #expect((a.concurrency, b.concurrency) == (3, 1))
        #expect(a.tables.map(\.name) == ["common"] && b.tables.map(\.name) == ["own"])
        #expect(a.store?.hasSuffix("/a.db") == true)
    }

    @Test(
        "a mistake is told with its place and what is allowed",
        arguments: [
            ("schedule: { interval: 5 }", ":1:23: schedule.interval cannot be 5; use a time such as"),
            ("schedule: { intervall: 5m }", "unknown key intervall in schedule"),
            ("batch: 500", ":1:8: batch cannot be 500; use a whole number from 1 to 100"),
            ("log: { form: xml }", "log.form cannot be xml"),
            ("token-command: /bin/x", "token-command must be a list"),
            ("endpoints: {}", "endpoints needs one at least"),
            ("endpoint: http://a\nendpoints: { a: { endpoint: \"http://a\" } }", ":1:11: endpoint and endpoints"),
            ("endpoints: { \"a b\": {} }", "letters, digits and - only"),
            ("token: x", "unknown key token"),
        ])
    func mistakes(_ text: String, _ message: String) throws {
        let error = #expect(throws: SluiceError.self) { _ = try self.file(text) }
        #expect("\(error!)".contains(message), "\(error!)")
    }

    @Test("named queries are pulled under their names, other declared tables whole, and local ones not at all")
    func pulls() throws {
        let file = try file(
            """
            tables: { orders: , items: , drafts: { local: true } }
            queries: { recent: { table: orders, filter: "year ge 2026" } }
            """)
        let settings = try ClientSettings(file, Settings(file, environment: [:]), environment: [:])
        #expect(settings.pulls.map { "\($0.query.table) \($0.name ?? "")" } == ["orders recent", "items sync"])
        #expect(settings.pulls.first?.query.filter != nil)
    }

    @Test("settings of OData are warned of where the wire is none of OData, and used where it is")
    func odataOfOtherWires() throws {
        let services = ["odata: { remembers-requests: true }", "tables: { a: { odata: { updated-at: Changed } } }"]
        for (dialect, count) in [("azure-v2", 1), ("odata-v4", 0)] {
            for text in services {
                let file = try file("dialect: \(dialect)\n\(text)\n")
                let settings = try ClientSettings(file, Settings(file, environment: [:]), environment: [:])
                #expect(settings.warnings.count == count, "\(dialect) \(text): \(settings.warnings)")
            }
        }
    }

    @Test("paths are the file's, the working folder's, or what the service manager hands over")
    func paths() throws {
        let file = try file("token-file: credential:token\nstore: a.db\n")
        let settings = try Settings(file, environment: [:])
        let values = SettingValues(settings, environment: ["CREDENTIALS_DIRECTORY": "/run/credentials/sluice"])
        #expect(try values.path("token-file") == "/run/credentials/sluice/token")
        #expect(try values.path("store") == "/tmp/a.db")
        #expect(throws: SluiceError.self) { try SettingValues(settings, environment: [:]).path("token-file") }
        let flags = try Settings(file, flags: ["store": ["b.db"], "token-file": ["credential:../x"]], environment: [:])
        let over = SettingValues(flags, environment: ["CREDENTIALS_DIRECTORY": "/run/c"])
        #expect(try over.path("store") == "b.db")
        #expect(throws: SluiceError.self) { try over.path("token-file") }
    }

    @Test("lengths of time are written and read")
    func durations() {
        for (text, duration) in [
            ("500ms", Duration.milliseconds(500)), ("30s", .seconds(30)), ("5m", .seconds(300)),
            ("1h", .seconds(3600)), ("2d", .seconds(172_800)), ("0s", .zero),
        ] {
            #expect(DurationText.duration(text) == duration)
            #expect(DurationText.text(duration) == text)
        }
        for text in ["", "5", "m", "-5m", "5 m", "1e3s", "99999999999d", "5M"] {
            #expect(DurationText.duration(text) == nil, "\(text)")
        }
    }

    @Test("windows of the day open and close, past midnight too")
    func windows() throws {
        let utc = try #require(TimeZone(identifier: "UTC"))
        let night = try #require(DayWindow("22:00-06:00"))
        func opening(_ time: String) throws -> String? {
            DayWindow.opening(of: [night], after: try #require(Timestamp(time)), in: utc)?.description
        }
        #expect(try opening("2026-01-01T23:30:00Z") == nil)
        #expect(try opening("2026-01-01T05:59:59Z") == nil)
        #expect(try opening("2026-01-01T06:00:30Z")?.hasPrefix("2026-01-01T22:00:00") == true)
        #expect(DayWindow.opening(of: [], after: Timestamp(ticks: 0), in: utc) == nil)
        for text in ["22-06", "25:00-06:00", "6:00-22:00", "06:00-06:00", "06:00", "06:61-07:00"] {
            #expect(DayWindow(text) == nil, "\(text)")
        }
    }

    @Test("docs/daemon.md has every setting as it is")
    func page() throws {
        let file = URL(fileURLWithPath: Repository.path("docs/daemon.md"))
        let page = try String(contentsOf: file, encoding: .utf8)
        let (begin, end) = ("<!-- settings -->\n", "\n<!-- /settings -->")
        let from = try #require(page.range(of: begin)), to = try #require(page.range(of: end))
        let made = page[..<from.upperBound] + SettingsTable.markdown + page[to.lowerBound...]
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_DOCS"] != nil {
            try String(made).write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(page == made, "make written-docs writes it")
        }
    }
}
