import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("Putting other plugins in the place of those that serve")
struct ReloadTests {
    let transport = ScriptedTransport([], otherwise: .json(200, "{}"))

    func text(_ answer: String) -> PluginText {
        PluginText(
            ["filter"],
            """
            return { filter = function(req, next, ctx)
              if req.query:get("wait") then next(req) end
              return decide.respond { status = 200, body = "\(answer)" }
            end }
            """)
    }

    func answer(_ plugins: Plugins, _ path: String = "/a", _ transport: ScriptedTransport? = nil) async throws -> String
    {
        let response = try await plugins.send(.sample(.get, path), to: transport ?? self.transport)
        return String(decoding: response.body.bytes, as: UTF8.self)
    }

    @Test("what client and context have got goes on with the new plugins")
    func swapped() async throws {
        let plugins = try await text("one").loaded()
        let filter = plugins.filter
        #expect(try await answer(plugins) == "one")
        try await plugins.reload([try text("two").plan])
        let response = try await FilterChain([filter], transport: transport).send(.sample())
        #expect(String(decoding: response.body.bytes, as: UTF8.self) == "two")
        let figures = await plugins.metrics
        #expect(figures.setVersion == 2 && figures.reloads == 1)
        #expect(await plugins.host.size == 1)
    }

    @Test(
        "a set in which anything is wrong is refused whole, and the old one serves",
        arguments: [
            "error('no')", "while true do end", "return {}", "x = = 1",
            "return { filter = function() end, init = function() end }",
        ])
    func refused(main: String) async throws {
        let plugins = try await text("one").loaded()
        var bad = PluginText(["filter"], main)
        bad.name = "bad"
        let plans = [try text("two").plan, try bad.plan]
        let error = await #expect(throws: SluiceError.self) { try await plugins.reload(plans) }
        #expect(error?.cause is PluginFailure)
        #expect(try await answer(plugins) == "one")
        let figures = await plugins.metrics
        #expect(figures.refusedReloads == 1 && figures.setVersion == 1)
        #expect(await plugins.host.size == 1)
        try await plugins.reload([try text("three").plan])
        #expect(try await answer(plugins) == "three")
    }

    @Test("a gate that refuses keeps the old set")
    func gate() async throws {
        var options = PluginOptions()
        options.gate = { plan in if plan.config["bad"] != nil { throw SluiceError(.invalidArgument, "fixtures fail") } }
        let plugins = try await text("one").loaded(options)
        var other = text("two")
        other.extra = ["config_schema": ["type": "object", "properties": ["bad": ["type": "boolean"]]]]
        other.config = ["bad": true]
        let plan = try other.plan
        await #expect(throws: SluiceError.self) { try await plugins.reload([plan]) }
        #expect(try await answer(plugins) == "one")
    }

    @Test("placements that contradict each other are refused")
    func placements() async throws {
        var one = text("one"), two = text("two")
        (one.name, two.name) = ("one", "two")
        one.hooks = ["filter": ["before": ["two"]]]
        two.hooks = ["filter": ["before": ["one"]]]
        let plans = [try one.plan, try two.plan]
        await #expect(throws: SluiceError.self) { try await Plugins(plans) }
    }

    @Test("a call that is under way ends with the plugins it began with")
    func drained() async throws {
        let gate = AsyncStream<Void>.makeStream()
        let slow = ScriptedTransport { _ in
            for await _ in gate.stream { break }
            return .json(200, "{}")
        }
        let plugins = try await text("one").loaded()
        let call = Task { try await answer(plugins, "/a?wait=1", slow) }
        while slow.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        try await plugins.reload([try text("two").plan])
        #expect(try await answer(plugins) == "two")
        #expect(await plugins.host.size == 2)
        gate.continuation.yield()
        #expect(try await call.value == "one")
        #expect(await plugins.host.size == 1)
    }

    @Test("an exchange that has begun finds the plugins it began with, those too that it has not come to yet")
    func wholeExchange() async throws {
        struct Gate: RequestFilter {
            let came = AsyncStream<Void>.makeStream()
            let open = AsyncStream<Void>.makeStream()

            func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
                came.continuation.yield()
                for await _ in open.stream { break }
                return try await next(request)
            }
        }
        let gate = Gate()
        var options = PluginOptions()
        options.filters = [Placed(gate, placement: Placement("gate", band: .early))]
        let plugins = try await text("one").loaded(options)
        let call = Task { try await answer(plugins) }
        for await _ in gate.came.stream { break }
        try await plugins.reload([try text("two").plan])
        #expect(await plugins.host.size == 2)
        gate.open.continuation.yield()
        #expect(try await call.value == "one")
        #expect(await plugins.host.size == 1)
    }

    @Test("a call that is under way for too long is ended, and never goes on")
    func abandoned() async throws {
        let gate = AsyncStream<Void>.makeStream()
        let slow = ScriptedTransport { _ in
            for await _ in gate.stream { break }
            return .json(200, "{}")
        }
        var options = PluginOptions()
        options.drainLimit = .milliseconds(10)
        let plugins = try await text("one").loaded(options)
        let call = Task { try await answer(plugins, "/a?wait=1", slow) }
        while slow.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        try await plugins.reload([try text("two").plan])
        while await plugins.host.size > 1 { try await Task.sleep(for: .milliseconds(1)) }
        gate.continuation.yield()
        await #expect(throws: SluiceError.self) { try await call.value }
        #expect(await plugins.metrics.abandonedCalls == 1)
        #expect(try await answer(plugins) == "two")
    }

    @Test("a storm of reloads and calls loses no call and keeps no machine")
    func storm() async throws {
        let plugins = try await text("0").loaded()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1...40 { try? await plugins.reload([try text("\(number)").plan]) }
            }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        let text = try await answer(plugins, "/a?wait=1")
                        #expect(Int(text) != nil)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await answer(plugins) == "40")
        #expect(await plugins.host.size == 1)
        #expect(await plugins.metrics.callsUnderWay == 0)
    }

    @Test("kv outlives a reload")
    func values() async throws {
        let text = PluginText(
            ["request"],
            "return { request = function() return decide.respond { status = 200, body = '' .. kv.incr('n') } end }",
            extra: ["permissions": ["kv": ["bytes": 100]]])
        let plugins = try await text.loaded()
        #expect(try await answer(plugins) == "1")
        try await plugins.reload([try text.plan])
        #expect(try await answer(plugins) == "2")
    }
}
