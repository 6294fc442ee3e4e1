import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("decisions that were written down")
struct DecisionToolTests {
    private static let main = "return c:merge { default = 'client' }"

    /// Decisions of a plugin that has met a conflict and a request.
    private func decisions(_ main: String = Self.main) async throws -> (DecisionFile, PluginBundle) {
        let bundle = try PluginBundle.handler(main)
        let plugins = try await Plugins([try PluginPlan(bundle)], options: PluginOptions(keepsInputs: true))
        var operation = TableOperation(
            id: "op-1", sequence: 1, table: "todo", recordID: "1", kind: .update,
            createdAt: Timestamp("2026-01-01T00:00:00Z")!)
        operation.attempts = 1
        for (client, server) in [(1, 2), (3, 4)] {
            _ = try? await plugins.conflictHandler.decide(
                Conflict(
                    operation: operation, client: ["id": "1", "n": JSON(client), "email": "a@b.c"],
                    server: ["id": "1", "n": JSON(server), "version": "v2"], base: ["id": "1", "n": 0],
                    maybeApplied: false, status: 412, isDeletedOnServer: false))
        }
        return (DecisionFile(await plugins.decisions), bundle)
    }

    @Test("a file of them is read as it was written, and fields can be hidden in it")
    func file() async throws {
        let (file, _) = try await decisions()
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/decisions.jsonl"
        try file.append(to: path)
        try file.hiding(["email"]).append(to: path)
        let read = try DecisionFile(path: path)
        #expect(read.decisions.count == 4)
        #expect(read.decisions[0].json == file.decisions[0].json)
        #expect(read.decisions[2].input?["conflict"]?["client"]?["email"] == "(hidden)")
        #expect(read.decisions[2].input?["conflict"]?["client"]?["n"] == 1)
        try folder.write("{}\n", to: "other.jsonl")
        #expect(throws: SluiceError.self) { try DecisionFile(path: "\(folder.path)/other.jsonl") }
    }

    @Test("an explanation says what was given, what was decided and why")
    func explanation() async throws {
        let (file, _) = try await decisions()
        let explanation = DecisionExplanation(try #require(file.lines(about: "1").first))
        #expect(explanation.lines.contains("decided merge"))
        #expect(explanation.lines.contains { $0.hasPrefix("  n: base 0, client 1, server 2, changed on both sides") })
        #expect(explanation.lines.first?.hasPrefix("line 1, #1 ") == true, "\(explanation.lines)")
        #expect(file.lines(about: "99").isEmpty)
        let (failed, _) = try await decisions("error('no', 0)")
        #expect(DecisionExplanation(failed.decisions[0]).isGood == false)
    }

    @Test("an explanation shows the record that rules came to, field by field and whole")
    func explainedMerge() async throws {
        let (file, _) = try await decisions(
            "return c:merge { n = function(mine, theirs) return mine + theirs end, default = 'server' }")
        let folder = try TemporaryFolder()
        try file.append(to: "\(folder.path)/d.jsonl")
        let lines = DecisionExplanation(try DecisionFile(path: "\(folder.path)/d.jsonl").decisions[0]).lines
        #expect(lines.last == #"merged to {"id":"1","n":3,"version":"v2","email":"a@b.c"}"#, "\(lines)")
        #expect(lines.contains("  n: base 0, client 1, server 2, changed on both sides -> 3"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("  email: ") && $0.hasSuffix(#" -> "a@b.c""#) }, "\(lines)")
        let hidden = DecisionExplanation(file.hiding(["email"]).decisions[0]).lines
        #expect(!hidden.joined().contains("a@b.c"), "\(hidden)")
    }

    @Test("decisions become fixtures that pass, one of each input")
    func recording() async throws {
        let (file, bundle) = try await decisions()
        let recording = DecisionRecording(DecisionFile(file.decisions + file.decisions), of: "sample")
        #expect(recording.files.count == 2)
        for (path, text) in recording.files {
            let result = await FixtureRunner(bundle).run(try PluginFixture(bytes: Array(text.utf8), path: path))
            #expect(result.differences == [])
        }
        #expect(DecisionRecording(file, of: "other").isGood == false)
    }

    @Test("two processes count from 1 each: a line is one decision's, and each input has a fixture of its own")
    func twoProcesses() async throws {
        let (first, bundle) = try await decisions()
        var second = first.decisions
        // Another process met other conflicts, under the same numbers.
        for index in second.indices {
            second[index].recordID = RecordID("2")
            second[index].inputHash = "other \(index)"
        }
        let folder = try TemporaryFolder()
        let path = try folder.write(
            DecisionFile(first.decisions).text + "\n" + DecisionFile(second).text, to: "d.jsonl")
        let file = try DecisionFile(path: path)
        #expect(file.lines.map(\.number) == [1, 2, 4, 5])
        #expect(file.decisions.map(\.sequence) == [1, 2, 1, 2])
        #expect(file.lines(about: "todo/2").map(\.number) == [4, 5])
        #expect(file.lines(about: "1").map(\.number) == [1, 2])
        #expect(file.lines(about: "shop/1").isEmpty)
        #expect(file.line(4)?.decision.recordID == RecordID("2"))
        #expect(file.line(3) == nil && file.line(6) == nil)
        #expect(
            DecisionRecording(file, of: "sample").files.keys.sorted()
                == [1, 2, 4, 5].map { "tests/recorded-\($0).json" })
        let replay = try await DecisionReplay(
            file, with: try PluginBundle.handler("return decide.server { reason = 'x' }"))
        #expect(replay.changes.map(\.line) == [1, 2, 4, 5])
        #expect(try await DecisionReplay(file, with: bundle).isGood)
    }

    @Test("a last line that is only a part of one is left out; a broken one before it is refused with its number")
    func tornLine() async throws {
        let (file, _) = try await decisions()
        let lines = file.text.split(separator: "\n").map(String.init)
        let folder = try TemporaryFolder()
        func read(_ text: String) throws -> DecisionFile {
            try DecisionFile(path: try folder.write(text, to: "d.jsonl"))
        }
        for length in 1..<lines[1].utf8.count {
            let torn = try read(lines[0] + "\n" + String(decoding: lines[1].utf8.prefix(length), as: UTF8.self))
            guard torn.tornLine == 2, torn.lines.map(\.number) == [1] else {
                Issue.record("cut after \(length) bytes: \(torn.lines.map(\.number))")
                return
            }
        }
        // Only its end is missing: the decision is all there.
        let whole = try read(lines[0] + "\n" + lines[1])
        #expect(whole.tornLine == nil && whole.lines.map(\.number) == [1, 2])
        let broken = #expect(throws: SluiceError.self) { try read(lines[0].dropLast(9) + "\n" + lines[1] + "\n") }
        #expect(broken?.message == "\(folder.path)/d.jsonl:1: the line is not JSON")
        let ended = #expect(throws: SluiceError.self) { try read(lines[0] + "\n" + lines[1].dropLast(9) + "\n") }
        #expect(ended?.message == "\(folder.path)/d.jsonl:2: the line is not JSON")
    }

    @Test("a replay says which answers another version changes, and which stay")
    func replay() async throws {
        let (file, bundle) = try await decisions()
        let same = try await DecisionReplay(file, with: bundle)
        #expect(same.isGood && same.asked == 2, "\(same.lines)")
        let other = try PluginBundle.handler(
            "if c.client.n == 3 then return decide.server { reason = 'x' } end " + Self.main)
        let replay = try await DecisionReplay(file, with: other)
        #expect(replay.changes.map(\.before.sequence) == [2])
        #expect(replay.lines.first == "line 2: on_conflict todo/1: merge -> server")
        #expect(replay.lines.last == "sample 1.0.0: 2 asked again, 1 change, 0 passed over")
    }

    @Test("credentials of a request are not in its decision, its body is")
    func credentials() async throws {
        let text = PluginText(
            ["request"], "return { request = function(req) req.headers:set('X-A', '1') end }",
            extra: ["permissions": ["read_headers": ["authorization"]]])
        let plugins = try await text.loaded(PluginOptions(keepsInputs: true))
        let transport = ScriptedTransport { _ in SyncResponse(HTTPResponse(status: .ok)) }
        let request = SyncRequest.sample(
            .post, "/tables/todos?a=1", body: ["id": "1"], [("Authorization", "Bearer geheim")], action: .insert)
        _ = try await plugins.send(request, to: transport)
        let decision = try #require(await plugins.decisions.first)
        #expect(!decision.json.description.contains("geheim"))
        let fixture = try #require(DecisionFixture.fixture(decision, config: .object))
        #expect(fixture["given"]?["request"]?["body"] == #"{"id":"1"}"#)
        #expect(fixture["given"]?["request"]?["path"] == "/tables/todos?a=1")
        let replay = try await DecisionReplay(DecisionFile([decision]), with: try text.plan.bundle)
        #expect(replay.isGood && replay.asked == 1, "\(replay.lines)")
    }

    @Test("a replay says why it cannot be: a configuration that does not fit, a name that has decided nothing")
    func replayRefusals() async throws {
        let (file, bundle) = try await decisions()
        let wanting = try PluginBundle.handler(
            Self.main,
            extra: [
                "config_schema": [
                    "type": "object", "properties": ["field": ["type": "string"]], "required": ["field"],
                ]
            ])
        let config = await #expect(throws: SluiceError.self) { try await DecisionReplay(file, with: wanting) }
        #expect(config?.message.contains("field") == true, "\(config?.message ?? "")")
        let name = await #expect(throws: SluiceError.self) {
            try await DecisionReplay(file, with: bundle, as: "stock-amounts")
        }
        #expect(name?.message == "there is no decision of stock-amounts, only of sample: --as says the name")
        var renamed = file.decisions
        for index in renamed.indices { renamed[index].plugin = "stock-amounts" }
        let replay = try await DecisionReplay(DecisionFile(renamed), with: bundle, as: "stock-amounts")
        #expect(replay.asked == 2 && replay.isGood, "\(replay.lines)")
    }

    @Test("a filter is asked again with what next answered then, and its requests are compared")
    func filter() async throws {
        func plugin(_ value: String, _ rest: String = "") -> PluginText {
            PluginText(
                ["filter"],
                """
                return { filter = function(req, next, ctx)
                  req.headers:set("X-A", "\(value)")
                  local res = next(req)
                  if res.status == 503 then
                    req.headers:set("X-Again", "1")
                    res = next(req)
                  end
                  \(rest)
                  if res.status == 404 then return decide.respond { status = 204 } end
                  res.headers:set("X-B", "2")
                  return res
                end }
                """)
        }
        let plugins = try await plugin("1").loaded(PluginOptions(keepsInputs: true))
        for statuses in [[200], [503, 200], [404]] {
            let answers = statuses.map { ScriptedTransport.Step.json($0, #"{"n":\#($0)}"#, ["Set-Cookie": "geheim"]) }
            let request = SyncRequest.sample(
                .post, "/tables/todos?a=1", body: ["id": "1"], [("Authorization", "Bearer geheim")], action: .insert)
            _ = try await plugins.send(request, to: ScriptedTransport(answers))
        }
        let decisions = await plugins.decisions
        #expect(decisions.map(\.decision) == ["changed", "changed", "respond"] && decisions.map(\.waits) == [1, 2, 1])
        #expect(!DecisionFile(decisions).text.contains("geheim"))
        let folder = try TemporaryFolder()
        try DecisionFile(decisions).append(to: "\(folder.path)/d.jsonl")
        let file = try DecisionFile(path: "\(folder.path)/d.jsonl")
        let same = try await DecisionReplay(file, with: try plugin("1").plan.bundle)
        #expect(same.isGood && same.asked == 3 && same.passedOver == 0, "\(same.lines)")
        let other = try await DecisionReplay(file, with: try plugin("x").plan.bundle)
        #expect(other.changes.count == 3)
        #expect(other.changes[0].differences == [#"sent[1].headers.X-A: was "1", is "x""#])
        let changed = try await DecisionReplay(
            file,
            with: try plugin("1", "if res.status == 200 then return decide.fail { message = 'm' } end").plan.bundle)
        #expect(changed.changes.map(\.before.sequence) == [1, 2])
        let bundle = try plugin("1").plan.bundle
        for (path, text) in DecisionRecording(file, of: "probe").files {
            let result = await FixtureRunner(bundle).run(try PluginFixture(bytes: Array(text.utf8), path: path))
            #expect(result.differences == [])
        }
        var fixture = try #require(DecisionFixture.fixture(decisions[1], config: .object))
        #expect(fixture["expect"]?["request"]?[1]?["headers"]?["X-Again"] == "1")
        fixture["host"]?["next"] = [["status": 503], ["status": 503], ["status": 200]]
        #expect(try PluginFixture(fixture, path: "x").world.next.count == 3)
    }
}
