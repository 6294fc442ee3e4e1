import Foundation
import RepositoryFiles
import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("The plugins that come with Sluice, in trouble")
struct BundledPluginsInTroubleTests {
    @Test("none fails by a mistake of its own, whatever it is given", arguments: BundledPluginsTests.names)
    func spoilt(name: String) async throws {
        var fuzz = PluginFuzz(try bundle(name))
        fuzz.calls = 200
        fuzz.configurations = 50
        let report = await fuzz.run()
        #expect(report.isGood, "\(report.lines.joined(separator: "\n"))")
    }

    static let handlers: [(name: String, config: JSON, losesFields: Bool)] = [
        ("field-merge", ["default": "server"], false), ("field-merge", ["default": "client"], false),
        ("field-merge", ["default": "max"], false), ("field-merge", ["default": "newest", "clock": "at"], false),
        ("counter-merge", ["counters": ["qty": .object], "others": "server"], false),
        ("last-writer-wins", ["field": "at", "without_stamp": "server", "deletes": "delete"], true),
        ("tombstone-guard", ["edit_of_deleted": "server", "delete_of_edited": "keep"], true),
    ]

    @Test("those that decide conflicts have all devices agree in the end", arguments: handlers)
    func converges(name: String, config: JSON, losesFields: Bool) async throws {
        var trial = PluginConvergence(try bundle(name))
        trial.schema = TableSchema(
            "todo",
            columns: [
                .init("title", .string), .init("qty", .integer), .init("done", .boolean), .init("at", .date),
            ])
        trial.config = config
        trial.allowsLoss = losesFields
        trial.conflicts = 200
        trial.stories = 100
        let report = try await trial.run()
        #expect(report.isGood, "\(report.lines.joined(separator: "\n"))")
    }

    @Test("the policy of the examples is in order")
    func policy() throws {
        let policy = try PluginPolicy(file: Repository.path("Examples/policy/policy.yaml"))
        try policy.check()
        #expect(policy.running.count == 9 && policy.deployment.labels["tenant"] == "north")
        #expect(
            try policy.order(.conflict).map(\.name) == ["tombstone-guard", "counter-merge", "field-merge"])
    }

    private func bundle(_ name: String) throws -> PluginBundle {
        try PluginBundle(folder: BundledPluginsTests.folder.appendingPathComponent(name).path)
    }
}
