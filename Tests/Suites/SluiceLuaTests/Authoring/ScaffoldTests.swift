import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("a new plugin")
struct ScaffoldTests {
    @Test("is whole, and its fixtures pass", arguments: ScaffoldKind.allCases)
    func kinds(kind: ScaffoldKind) async throws {
        let folder = try TemporaryFolder()
        try PluginScaffold(name: "com.example.fresh", kind: kind).write(to: folder.path)
        let check = await PluginCheck(folder: folder.path).run()
        #expect(check.findings == [], "\(check.lines)")
        let report = await FixtureRunner(try PluginBundle(folder: folder.path)).run()
        #expect(report.isGood && !report.results.isEmpty, "\(report.lines)")
    }

    @Test("does not overwrite what is there, and needs a name that plugins can have")
    func refusals() throws {
        let folder = try TemporaryFolder()
        let scaffold = try PluginScaffold(name: "fresh", kind: .conflict)
        try scaffold.write(to: folder.path)
        #expect(throws: SluiceError.self) { try scaffold.write(to: folder.path) }
        #expect(throws: SluiceError.self) { try PluginScaffold(name: "No Name", kind: .conflict) }
    }

    @Test("tells the editor of the tables")
    func stubs() throws {
        let scaffold = try PluginScaffold(
            name: "fresh", kind: .conflict, tables: [TableSchema("todo", columns: [.init("title", .string)])])
        let text = String(decoding: scaffold.files[".luals/sluice.d.lua"] ?? [], as: UTF8.self)
        #expect(text.contains("---@class app.todo: sluice.Record"))
        #expect(text.contains("---@field title? string"))
        #expect(text.contains("function decide.merge("))
        let settings = String(decoding: scaffold.files[".luarc.json"] ?? [], as: UTF8.self)
        #expect(try JSON(parsing: settings)["workspace.library"] == [".luals"])
        let folder = try TemporaryFolder()
        try PluginStubs().write(to: folder.path)
        #expect(throws: SluiceError.self) { try PluginStubs().write(to: "/proc/no/such") }
    }
}
