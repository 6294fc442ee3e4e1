import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("chains in their order")
struct OrderReportTests {
    private func policy(_ folder: TemporaryFolder) throws -> PluginPolicy {
        for (name, hooks) in [
            ("first", #"{"request": {"band": "early", "match": {"tables": ["todo*"]}}}"#),
            ("second", #"{"request": {"after": ["third"], "match": {"methods": ["POST"]}}}"#),
            ("third", #"{"request": {"match": {"hosts": ["a.example"]}}, "on_conflict": {}}"#),
        ] {
            try folder.write(
                #"{"name": "\#(name)", "version": "1.0.0", "api": "1.0", "hooks": \#(hooks)}"#,
                to: "\(name)/plugin.json")
            try folder.write("return {}", to: "\(name)/main.lua")
        }
        let lines = ["first", "second", "third"].map {
            "  \($0): { path: \($0)\($0 == "third" ? ", mode: shadow" : "") }"
        }
        try folder.write("plugins:\n\(lines.joined(separator: "\n"))\n", to: "policy.yaml")
        return try PluginPolicy(file: "\(folder.path)/policy.yaml")
    }

    @Test("each link has its place, the reason for it, and whether it is asked")
    func order() throws {
        let folder = try TemporaryFolder()
        let report = try OrderReport(try policy(folder), table: "todo", method: "GET")
        let http = try #require(report.chains.first { $0.chain == .http }?.links)
        #expect(http.map(\.name) == ["first", "third", "second"])
        #expect(http.map(\.isAsked) == [true, nil, false])
        #expect(http[2].why.contains("after third"))
        #expect(http[1].isShadow)
        #expect(report.chains.map(\.chain) == [.http, .conflict])
        #expect(report.lines.first == "http for GET, table todo")
    }

    @Test("filters of the application stand in the chain too; a circle is refused")
    func beside() throws {
        let folder = try TemporaryFolder()
        let policy = try policy(folder)
        var own = Placement("retry")
        own.before = ["first"]
        own.band = .early
        let report = try OrderReport(policy, beside: [own])
        #expect(report.chains[0].links.first?.name == "retry")
        own.after = ["first"]
        #expect(throws: SluiceError.self) { try OrderReport(policy, beside: [own]) }
    }

    @Test("a path leads to a policy, a bundle, or a folder of bundles")
    func target() throws {
        let folder = try TemporaryFolder()
        _ = try policy(folder)
        #expect(try PluginTarget("\(folder.path)/policy.yaml").policy != nil)
        #expect(try PluginTarget(folder.path).bundles.count == 3)
        #expect(try PluginTarget("\(folder.path)/first").bundles.map(\.manifest.name) == ["first"])
        #expect(throws: SluiceError.self) { try PluginTarget("/nowhere/at/all") }
    }
}
