import Foundation
import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("The file of decisions")
struct DecisionLogTests {
    private let folder: TemporaryFolder
    private let transport = ScriptedTransport([], otherwise: .json(200, "{}"))

    init() throws { folder = try TemporaryFolder() }

    private var path: String { "\(folder.path)/decisions.jsonl" }

    private static let secret = "s3cr3t-value"

    /// A plugin that puts a secret wherever a script can.
    private let leaky = PluginText(
        ["request"],
        """
        return { request = function(req, ctx)
          ctx.trace.set("t", "s3cr3t-value")
          ctx.log.info("logs s3cr3t-value", { field = "s3cr3t-value" })
          if req.query:get("fail") then error("with s3cr3t-value", 0) end
          return decide.fail { message = "m", reason = "for s3cr3t-value" }
        end }
        """, extra: ["permissions": ["secrets": ["key"]]])

    private func ask(_ plugins: Plugins, _ path: String = "/tables/todos", body: JSON? = nil) async {
        let request = SyncRequest.sample(
            .post, path, body: body, [("Authorization", "Bearer s3cr3t-value"), ("X-A", "s3cr3t-value")],
            action: .insert)
        _ = try? await plugins.send(request, to: transport)
    }

    private func lines(_ path: String? = nil) throws -> [PluginDecision] {
        try DecisionFile(path: path ?? self.path).decisions
    }

    @Test("each decision is a line when it has been made, without secrets; inputs only where they are asked for")
    func written() async throws {
        var options = PluginOptions(decisionLog: DecisionLog(path))
        options.secret = { _ in Self.secret }
        let plugins = try await leaky.loaded(options)
        await ask(plugins, body: ["id": "1"])
        #expect(try lines().count == 1)
        await ask(plugins, "/a?fail=1")
        let (first, second) = (try lines()[0], try lines()[1])
        let kept = await plugins.decisions
        #expect(first.json == kept[0].json && first.input == nil)
        #expect(first.decision == "fail" && first.reason == "for (hidden)" && first.sequence == 1)
        #expect(second.failure?.message == "with (hidden)" && second.sequence == 2)
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains(Self.secret))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test(
        "a file that is something else is refused, and stays as it is", arguments: ["return {}\n", "SQLite format 3\0"])
    func other(content: String) async throws {
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        let error = await #expect(throws: SluiceError.self) {
            try await leaky.loaded(PluginOptions(decisionLog: DecisionLog(path)))
        }
        #expect(error?.code == .invalidArgument && error?.message.contains(path) == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(content.utf8))
        // One that is empty is as good as none; one that is kept for something else is not.
        try Data().write(to: URL(fileURLWithPath: path))
        func options(ownFiles: Set<String>) -> PluginOptions {
            var options = PluginOptions(decisionLog: DecisionLog(path))
            options.secret = { _ in Self.secret }
            options.ownFiles = ownFiles
            return options
        }
        await #expect(throws: SluiceError.self) { try await leaky.loaded(options(ownFiles: [path])) }
        _ = try await leaky.loaded(options(ownFiles: []))
    }

    @Test("inputs are written where the file is to have them, with fields hidden; what is kept in memory has none")
    func inputs() async throws {
        var options = PluginOptions(decisionLog: DecisionLog(path, hasInputs: true, hidden: ["path", "email"]))
        options.secret = { _ in Self.secret }
        let plugins = try await leaky.loaded(options)
        await ask(
            plugins, "/tables/todos?token=s3cr3t-value", body: ["id": "1", "email": "a@b.c", "s": "s3cr3t-value"])
        let line = try #require(try lines().first)
        #expect(line.input?["req"]?["method"] == "POST" && line.input?["req"]?["path"] == "(hidden)")
        #expect(
            line.input?["body"] == #"{"id":"1","email":"(hidden)","s":"(hidden)"}"#
                && line.answer?["decision"] == "fail")
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains(Self.secret))
        #expect(await plugins.decisions.first?.input == nil)
        let other = try await leaky.loaded(PluginOptions(decisionLog: DecisionLog(path + "2"), keepsInputs: true))
        await ask(other)
        let kept = try #require(await other.decisions.first)
        #expect(kept.input != nil && kept.answer != nil)
        #expect(try lines(path + "2").first?.input == nil && lines(path + "2").first?.answer == nil)
    }

    @Test("a file that is full is moved aside, and so many are kept")
    func rotated() async throws {
        var options = PluginOptions(decisionLog: DecisionLog(path, maximumBytes: 2_000, kept: 2))
        options.secret = { _ in Self.secret }
        let plugins = try await leaky.loaded(options)
        for _ in 0..<40 { await ask(plugins) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files == ["decisions.jsonl", "decisions.jsonl.1", "decisions.jsonl.2"])
        var numbers: [Int] = []
        for file in ["\(path).2", "\(path).1", path] { numbers += try lines(file).map(\.sequence) }
        let first = try #require(numbers.first)
        #expect(numbers == Array(first...40))
        for file in files {
            let size = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(file)")[.size] as? Int
            #expect(try #require(size) <= 2_000)
        }
    }

    @Test("a file that another program moved away is begun anew, and one that is there is gone on with")
    func movedAway() async throws {
        var options = PluginOptions(decisionLog: DecisionLog(path, maximumBytes: nil))
        options.secret = { _ in Self.secret }
        let plugins = try await leaky.loaded(options)
        await ask(plugins)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        await ask(plugins)
        #expect(try lines(path + ".old").map(\.sequence) == [1] && lines().map(\.sequence) == [2])
        // As logrotate does with `create`.
        try FileManager.default.moveItem(atPath: path, toPath: path + ".older")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        await ask(plugins)
        #expect(try lines(path + ".older").map(\.sequence) == [2] && lines().map(\.sequence) == [3])
        // And with `copytruncate`.
        #expect(truncate(path, 0) == 0)
        await ask(plugins)
        #expect(try lines().map(\.sequence) == [4])
        let other = try await leaky.loaded(options)
        await ask(other)
        #expect(try lines().map(\.sequence) == [4, 1])
    }

    /// A file of that text, after a process has written one more decision to it.
    private func continued(_ text: String, _ name: String) async throws -> String {
        var options = PluginOptions(decisionLog: DecisionLog(try folder.write(text, to: name)))
        options.secret = { _ in Self.secret }
        await ask(try await leaky.loaded(options))
        return try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
    }

    @Test("a process that goes on with a file takes away the part of a line that a killed one left")
    func tornLine() async throws {
        let line = try await continued("", "first")
        #expect(try lines("\(folder.path)/first").map(\.sequence) == [1] && line.hasSuffix("}\n"))
        for length in [1, 15, 90, line.utf8.count - 2] {
            let text = try await continued(line + line.prefix(length), "torn-\(length)")
            #expect(text.hasPrefix(line + #"{"sequence":1,"#), "\(text)")
            #expect(try lines("\(folder.path)/torn-\(length)").map(\.sequence) == [1, 1])
        }
        #expect(try await continued(String(line.prefix(20)), "all").hasPrefix(#"{"sequence":1,"at""#))
        // Where the end of the line alone is missing, and where the last line is somebody else's, it is only ended.
        let whole = try await continued(line + line.dropLast(), "whole")
        #expect(whole.hasPrefix(line + line) && whole.split(separator: "\n").count == 3, "\(whole)")
        #expect(try await continued(line + "x: 1", "other").hasPrefix(line + "x: 1\n{"))
    }

    @Test("a part of a line is left alone while the process that writes to the file lives")
    func lockedFile() async throws {
        let line = try await continued("", "first")
        let path = try folder.write(line + line.prefix(40), to: "live")
        let writer = open(path, O_WRONLY | O_APPEND)
        defer { close(writer) }
        #expect(flock(writer, LOCK_EX | LOCK_NB) == 0)
        var options = PluginOptions(decisionLog: DecisionLog(path))
        options.secret = { _ in Self.secret }
        _ = try await leaky.loaded(options)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == line + line.prefix(40))
    }

    @Test("a file that cannot be written stops nothing, is counted, and is written again once it can be")
    func unwritable() async throws {
        let inside = "\(folder.path)/new/decisions.jsonl"
        var options = PluginOptions(decisionLog: DecisionLog(inside))
        options.secret = { _ in Self.secret }
        let plugins = try await leaky.loaded(options)
        await ask(plugins)
        #expect(await plugins.decisions.count == 1)
        #expect(await plugins.metrics.lostDecisions == 1)
        try FileManager.default.createDirectory(atPath: "\(folder.path)/new", withIntermediateDirectories: true)
        await ask(plugins)
        #expect(try lines(inside).map(\.sequence) == [2])
        #expect(await plugins.metrics.lostDecisions == 1)
    }

    @Test("neither a pipe nor a full device is waited for")
    func noFile() async throws {
        #expect(mkfifo(path, 0o600) == 0)
        for place in [path, "/dev/full"] {
            let plugins = try await leaky.loaded(PluginOptions(decisionLog: DecisionLog(place)))
            await ask(plugins)
            #expect(await plugins.metrics.lostDecisions == 1)
        }
    }

    @Test("a policy that names a folder is refused")
    func folderOfPolicy() async throws {
        let policy = try folder.write("decisions: { file: . }\nplugins: {}\n", to: "policy.yaml")
        await #expect { _ = try await Plugins(policy: policy) } throws: { "\($0)".contains("it is a folder") }
    }

    @Test("a policy says where, over what the application says, and a reload says it anew")
    func policy() async throws {
        let bundle = try leaky.plan.bundle
        for (name, bytes) in bundle.files { try folder.write(Data(bytes), to: "probe/\(name)") }
        let plugin = "plugins: { probe: { path: probe } }\n"
        let policy = try folder.write("decisions: { file: one.jsonl }\n" + plugin, to: "policy.yaml")
        let plugins = try await Plugins(policy: policy, options: PluginOptions(decisionLog: DecisionLog(path)))
        await ask(plugins)
        try folder.write("decisions: { file: two.jsonl, inputs: true }\n" + plugin, to: "policy.yaml")
        try await plugins.reload()
        await ask(plugins)
        try folder.write(plugin, to: "policy.yaml")
        try await plugins.reload()
        await ask(plugins)
        #expect(try lines("\(folder.path)/one.jsonl").map(\.sequence) == [1])
        #expect(try lines("\(folder.path)/two.jsonl").map(\.sequence) == [2])
        #expect(try lines("\(folder.path)/two.jsonl")[0].input != nil)
        #expect(try lines().map(\.sequence) == [3])
    }

    @Test(
        "what a policy says of it is read strictly",
        arguments: [
            ("{ file: d.jsonl }", DecisionLog("/p/d.jsonl")),
            (
                "{ file: /var/d.jsonl, size: 1MiB, keep: 0, inputs: true, hide: [email, name] }",
                DecisionLog("/var/d.jsonl", maximumBytes: 1 << 20, kept: 0, hasInputs: true, hidden: ["email", "name"])
            ),
            ("{ file: d.jsonl, size: none }", DecisionLog("/p/d.jsonl", maximumBytes: nil)),
        ])
    func read(text: String, log: DecisionLog) throws {
        let policy = try PluginPolicy(yaml: "decisions: \(text)\n", file: "p.yaml", folder: "/p")
        #expect(policy.decisionLog == log)
    }

    @Test(
        "and what it should not say is told with its place",
        arguments: [
            ("{ size: 1MiB }", "the key file is missing"), ("{ file: d, size: 10 }", "from 64KiB"),
            ("{ file: d, size: much }", "from 64KiB"), ("{ file: d, keep: -1 }", "from 0 to 100"),
            ("{ file: d, keeps: 1 }", "keep"), ("{ file: \"\" }", "file must be a text"),
        ])
    func refused(text: String, words: String) {
        let error = #expect(throws: SluiceError.self) {
            try PluginPolicy(yaml: "decisions: \(text)\n", file: "p.yaml", folder: "/p")
        }
        #expect(error?.message.hasPrefix("p.yaml:1:") == true && error?.message.contains(words) == true)
    }
}
