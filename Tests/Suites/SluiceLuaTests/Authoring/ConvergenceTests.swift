import RepositoryFiles
import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("whether conflict handlers converge")
struct ConvergenceTests {
    private static let schema = TableSchema(
        "todo", columns: [.init("title", .string), .init("qty", .integer), .init("done", .boolean)])

    private func report(_ body: String, _ change: (inout PluginConvergence) -> Void = { _ in }) async throws
        -> ConvergenceReport
    {
        var trial = PluginConvergence(try .handler(body))
        trial.schema = Self.schema
        trial.conflicts = 100
        trial.stories = 40
        change(&trial)
        return try await trial.run()
    }

    private static let merging = "if not c.client or not c.server then return decide.next() end "

    @Test("a merge by rules does")
    func good() async throws {
        let report = try await report("return c:merge { default = 'server' }")
        #expect(report.isGood, "\(report.lines)")
        #expect(report.conflicts == 100 && report.stories == 40 && report.decisions["merge"] ?? 0 > 50)
    }

    @Test("the same seed plays the same conflicts")
    func seeded() async throws {
        let body = "return c:merge { default = 'server', qty = 'max' }"
        let first = try await report(body) { $0.seed = 7 }
        #expect(try await report(body) { $0.seed = 7 }.json == first.json)
    }

    @Test("a handler that answers by chance is found out")
    func chance() async throws {
        let report = try await report("n = (n or 0) return decide.next()")
        #expect(report.broken[.answers] != nil)
        var trial = PluginConvergence(
            try .sample(
                ["on_conflict"],
                """
                local n = 0
                return { on_conflict = function() n = n + 1 return n % 2 == 0 and decide.server() or decide.client() end }
                """))
        trial.schema = Self.schema
        trial.conflicts = 20
        trial.stories = 1
        #expect(try await trial.run().broken[.deterministic] != nil)
    }

    @Test("a handler that loses what one side changed is found out, unless that is the policy")
    func loses() async throws {
        let report = try await report("return decide.server()")
        #expect(!report.isGood && report.broken[.keepsFields]?.count ?? 0 > 10)
        #expect(try await self.report("return decide.server()") { $0.allowsLoss = true }.isGood)
    }

    @Test("a field that is to lose is exempt by its name, with the reason, and no other is")
    func exempt() async throws {
        let body = "return c:merge { default = 'server', always = { qty = 'max' } }"
        let strict = try await report(body)
        #expect(!strict.isGood && strict.broken[.keepsFields]?.example.hasPrefix("qty of ") == true, "\(strict.lines)")
        let report = try await report(body) { $0.exempt = ["qty": "the larger is kept"] }
        #expect(report.isGood && report.exempt["qty"]?.count ?? 0 > 0, "\(report.lines)")
        #expect(report.lines.last?.hasPrefix("exempt: qty may be lost (the larger is kept), and was ") == true)
        #expect(report.json["exempt"]?["qty"]?["reason"] == "the larger is kept")
        let other = try await self.report("return decide.server()") { $0.exempt = ["qty": "the larger is kept"] }
        #expect(!other.isGood && other.broken[.keepsFields]?.example.hasPrefix("qty") == false, "\(other.lines)")
        let error = await #expect(throws: SluiceError.self) {
            try await self.report(body) { $0.exempt = ["quantity": "a typing error"] }
        }
        #expect(error?.message.contains("quantity is exempt, and no field of the records") == true)
    }

    @Test("a handler that changes equal records is found out")
    func changes() async throws {
        let report = try await report(
            Self.merging + "local r = c.client:to_table() r.qty = (r.qty or 0) + 1 return decide.merge(r)")
        #expect(report.broken[.idempotent] != nil)
    }

    @Test("a handler that fails is found out")
    func fails() async throws {
        let report = try await report("return c.client.title:upper()")
        #expect(report.broken[.answers] != nil)
        #expect(report.lines.contains { $0.hasPrefix("answers: NO") })
    }

    @Test("records are made of the fixtures where no table is given; with neither there is nothing to play")
    func source() async throws {
        let fixture = #"""
            {"name": "a", "hook": "on_conflict", "expect": {},
             "given": {"conflict": {"client": {"id": "1", "tags": ["a"]}, "server": {"id": "1", "tags": ["b"]}}}}
            """#
        let bundle = try PluginBundle.handler(
            "return c:merge { default = 'union' }", files: ["tests/a.json": fixture])
        var trial = PluginConvergence(bundle)
        trial.conflicts = 30
        trial.stories = 5
        #expect(try await trial.run().decisions["merge"] ?? 0 > 10)
        await #expect(throws: SluiceError.self) {
            try await PluginConvergence(try .handler("return decide.next()")).run()
        }
    }

    @Test(
        "the handlers that come with Sluice converge",
        arguments: [
            ("field-merge", false), ("counter-merge", false), ("last-writer-wins", true),
        ])
    func bundled(name: String, allowsLoss: Bool) async throws {
        var trial = PluginConvergence(try PluginBundle(folder: Repository.path("Plugins/\(name)")))
        trial.allowsLoss = allowsLoss
        trial.conflicts = 60
        trial.stories = 30
        let report = try await trial.run()
        #expect(report.isGood, "\(report.lines)")
    }

    @Test(
        "a handler that takes one side for all, or asks where one side deleted the record, converges",
        arguments: [
            "return decide.server()", "return decide.client()",
            "if c.client and not c.server then return decide.ask() end return decide.client()",
            "if c.client and not c.server then return decide.server() end return decide.client()",
        ])
    func oneSide(body: String) async throws {
        let report = try await report(body) { $0.allowsLoss = true }
        #expect(report.isGood, "\(report.lines)")
        #expect(report.decisions["client"] ?? 0 > 50 || report.decisions["server"] ?? 0 > 50, "\(report.decisions)")
    }

    @Test("a handler that adds what may have arrived already is found out; one that asks then is not")
    func twice() async throws {
        let add = "c:merge { default = 'server', qty = function(x, y, z) return y + (x - (z or 0)) end }"
        let careless = try await report(Self.merging + "return " + add)
        #expect(!careless.isGood && careless.broken[.countsOnce]?.count ?? 0 > 0, "\(careless.lines)")
        let careful = try await report(
            Self.merging + "if c.maybe_applied then return decide.ask() end return " + add)
        #expect(careful.broken[.countsOnce] == nil, "\(careful.lines)")
        let byRule = try await report("return c:merge { default = 'server', qty = 'sum_delta' }")
        #expect(byRule.broken[.countsOnce] == nil && byRule.decisions["ask"] ?? 0 > 0, "\(byRule.lines)")
    }

    @Test(
        "the rule sum_delta and counter-merge converge on numbers at every edge, and lose no digit",
        arguments: ["sum_delta", "counter-merge"], [UInt64(1), 2, 3])
    func edges(handler: String, seed: UInt64) async throws {
        let numbers = [
            "9223372036854775807", "-9223372036854775808", "9007199254740993", "-9007199254740993", "9007199254740992",
            "0.5", "-1.25", "4503599627370497", "3",
        ]
        func fixture(_ index: Int) -> String {
            """
            {"name": "a", "hook": "on_conflict", "expect": {}, "config": \(handler == "sum_delta" ? "{}" : #"{"counters": {"n": {}}}"#),
             "given": {"conflict": {"client": {"id": "1", "n": \(numbers[index]), "t": "a"},
               "server": {"id": "1", "n": \(numbers[(index + 1) % numbers.count]), "t": "b"}}}}
            """
        }
        var files = Dictionary(uniqueKeysWithValues: numbers.indices.map { ("tests/\($0).json", fixture($0)) })
        let bundle: PluginBundle
        if handler == "sum_delta" {
            bundle = try .handler("return c:merge { n = 'sum_delta', default = 'server' }", files: files)
        } else {
            let own = try PluginBundle(folder: Repository.path("Plugins/counter-merge")).files
            for name in ["plugin.json", "main.lua"] { files[name] = String(decoding: own[name] ?? [], as: UTF8.self) }
            bundle = try PluginBundle(files: files.mapValues { Array($0.utf8) }, location: "counter-merge")
        }
        var trial = PluginConvergence(bundle)
        trial.seed = seed
        trial.conflicts = 400
        trial.stories = 40
        let report = try await trial.run()
        #expect(report.isGood, "\(report.lines)")
        #expect(report.decisions["merge"] ?? 0 > 50 && report.decisions["ask"] ?? 0 > 10)
    }
}
