import HTTPTypes
import SluiceCore
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceLua

@Suite("A host of plugins")
struct PluginHostTests {
    let transport = ScriptedTransport([], otherwise: .json(200, "{}"))

    /// A clock that tests move.
    final class Clock: Sendable {
        private let time = Mutex(Timestamp("2026-01-01T00:00:00Z")!)
        var now: Timestamp { time.withLock { $0 } }
        func move(_ duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
        var environment: SyncEnvironment { SyncEnvironment(now: { self.now }, makeID: { "id" }) }
    }

    @Test("a script that is stopped three times gets another machine, and works on")
    func rebuilt() async throws {
        let plugins = try await PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              if req.query:get("loop") then while true do end end
              return decide.respond { status = 204 }
            end }
            """
        ).loaded()
        for _ in 0..<4 {
            let error = await #expect(throws: SluiceError.self) {
                try await plugins.send(.sample(.get, "/a?loop=1"), to: transport)
            }
            #expect((error?.cause as? PluginFailure)?.kind == .fuel)
            #expect(try await plugins.send(.sample(), to: transport).status == 204)
        }
        let id = plugins.current.callers[0].id
        #expect(await plugins.host.rebuilds(of: id) == 1)
        #expect(await plugins.host.isBalanced)
        #expect(await plugins.metrics.errors == ["fuel": 4])
    }

    @Test("a hook that fails five times is not asked for half a minute, then for twice as long")
    func breaker() async throws {
        let clock = Clock()
        let plugins = try await PluginText(
            ["request", "response"],
            """
            return {
              request = function(req) if req.query:get("fail") then error("no") end end,
              response = function(res) res.headers:set("X-Seen", "1") end,
            }
            """
        ).loaded(PluginOptions(environment: clock.environment))
        func fail() async -> PluginFailure.Kind? {
            do {
                _ = try await plugins.send(.sample(.get, "/a?fail=1"), to: transport)
                return nil
            } catch { return ((error as? SluiceError)?.cause as? PluginFailure)?.kind }
        }
        for _ in 0..<5 { #expect(await fail() == .runtime) }
        #expect(await fail() == .breakerOpen)
        await #expect(throws: SluiceError.self) { try await plugins.send(.sample(), to: transport) }
        let hooks = await plugins.metrics.hooks["probe"]
        #expect(hooks?["request"]?.isBreakerOpen == true && hooks?["response"]?.isBreakerOpen != true)
        clock.move(.seconds(31))
        #expect(await fail() == .runtime)
        clock.move(.seconds(31))
        #expect(await fail() == .breakerOpen)
        clock.move(.seconds(30))
        #expect(try await plugins.send(.sample(), to: transport).status == 200)
        #expect(await fail() == .runtime)
    }

    @Test("the pauses of a breaker double up to an hour, and a clock that goes back does not lengthen them")
    func breakerPauses() {
        var breaker = CircuitBreaker()
        var now = Timestamp("2026-01-01T00:00:00Z")!
        for _ in 0..<4 { breaker.failed(at: now) }
        #expect(!breaker.isOpen(at: now))
        var pauses: [Duration] = []
        for _ in 0..<10 {
            breaker.failed(at: now)
            let end = breaker.opensUntil ?? now
            pauses.append(now.duration(to: end))
            now = end
            #expect(!breaker.isOpen(at: now))
        }
        #expect(pauses.prefix(3) == [.seconds(30), .seconds(60), .seconds(120)] && pauses.last == .seconds(3600))
        breaker.succeeded()
        #expect(breaker == CircuitBreaker())
        for second in 0..<20 { breaker.failed(at: now.advanced(by: .seconds(second * 61))) }
        #expect(!breaker.isOpen(at: now.advanced(by: .seconds(20 * 61))))
    }

    @Test("a cancelled task ends a script that waits; the plugin works on")
    func cancelled() async throws {
        let plugins = try await PluginText(
            ["request"],
            """
            return { request = function(req, ctx)
              if req.query:get("wait") then
                for i = 1, 3 do pcall(ctx.sleep, 1000) end
              end
            end }
            """
        ).loaded()
        let task = Task { try await plugins.send(.sample(.get, "/a?wait=1"), to: transport) }
        while await plugins.metrics.callsUnderWay == 0 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(transport.requests.isEmpty)
        #expect(await plugins.metrics.callsUnderWay == 0)
        #expect(try await plugins.send(.sample(), to: transport).status == 200)
        #expect(await plugins.host.isBalanced)
    }

    @Test(
        "a wait that takes longer than the call may is ended",
        arguments: [
            "ctx.sleep(60000)", "pcall(ctx.sleep, 60000) pcall(ctx.sleep, 60000)",
            "pcall(http.request, { url = 'https://a.example/' }) return decide.respond { status = 200 }",
        ])
    func deadline(line: String) async throws {
        let slow = ScriptedTransport { _ in
            try await Task.sleep(for: .seconds(600))
            return .json(200, "{}")
        }
        let text = PluginText(
            ["request": ["limits": ["wall": "100ms"]]], "return { request = function(req, ctx)\n\(line)\nend }",
            extra: ["permissions": ["http": ["a.example"]]])
        let plugins = try await text.loaded(PluginOptions(transport: slow))
        let error = await #expect(throws: SluiceError.self) { try await plugins.send(.sample(), to: transport) }
        #expect((error?.cause as? PluginFailure)?.kind == .deadline)
        #expect(transport.requests.isEmpty)
    }

    @Test("what next takes does not count against the plugin")
    func nextIsFree() async throws {
        let slow = ScriptedTransport { _ in
            try await Task.sleep(for: .milliseconds(300))
            return .json(200, "{}")
        }
        let plugins = try await PluginText(
            ["filter": ["limits": ["wall": "100ms"]]],
            "return { filter = function(req, next, ctx) local r = next(req) ctx.sleep(1) return r end }"
        ).loaded()
        #expect(try await plugins.send(.sample(), to: slow).status == 200)
    }

    @Test("a hundred calls of one plugin wait at the same time, and each gets its own answer")
    func manyWaits() async throws {
        let echo = ScriptedTransport { request in
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...20)))
            return .json(200, "{}", ["X-Path": request.head.path ?? ""])
        }
        let plugins = try await PluginText(
            ["filter"],
            """
            return { filter = function(req, next, ctx)
              local path = req.path
              local res = next(req)
              ctx.sleep(1)
              res.headers:set("X-Own", path)
              return res
            end }
            """
        ).loaded()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let response = try await plugins.send(.sample(.get, "/\(number)"), to: echo)
                    let fields = response.head.headerFields
                    return fields[HTTPField.Name("X-Own")!] == "/\(number)"
                        && fields[HTTPField.Name("X-Path")!] == "/\(number)"
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(await plugins.metrics.callsUnderWay == 0)
        #expect(await plugins.host.isBalanced)
    }

    @Test(
        "a wait inside a callback of gsub or sort says so",
        arguments: [
            "('ab'):gsub('.', function() ctx.sleep(1) end)",
            "table.sort({ 3, 1, 2 }, function(a, b) ctx.sleep(1) return a < b end)",
        ])
    func callbacks(line: String) async throws {
        let plugins = try await PluginText(
            ["request"], "return { request = function(req, ctx)\n\(line)\nend }"
        ).loaded()
        let error = await #expect(throws: SluiceError.self) { try await plugins.send(.sample(), to: transport) }
        #expect((error?.cause as? PluginFailure)?.kind == .yield)
    }

    @Test("the decision log keeps the newest decisions")
    func ring() async throws {
        let plugins = try await PluginText(["request"], "return { request = function() end }").loaded(
            PluginOptions(decisionLogSize: 4))
        for _ in 0..<10 { _ = try await plugins.send(.sample(), to: transport) }
        #expect(await plugins.decisions.map(\.sequence) == [7, 8, 9, 10])
        let empty = try await PluginText(["request"], "return { request = function() end }").loaded(
            PluginOptions(decisionLogSize: 0))
        _ = try await empty.send(.sample(), to: transport)
        #expect(await empty.decisions.isEmpty)
    }

    @Test("every guard of the sandbox holds in a machine with the prelude")
    func selfTest() async throws {
        _ = try await PluginText(["request"], "return { request = function() end }").loaded(
            PluginOptions(testsGuards: true))
    }

    @Test(
        "a plugin that does not load says why",
        arguments: [
            ("return 5", "main"), ("", ""), ("error('no')", "no"),
            ("return { response = function() end }", "request is declared"),
            ("return { request = function() end, response = function() end }", "response is returned"),
            ("while true do end", "fuel"), ("local x = = 1", "main"), ("return { request = 5 }", ""),
            ("require('lib.none')", "lib.none"), ("require('../x')", ""), ("http.request { url = 'x' }", "loaded"),
            ("return { request = function() end, init = function() error('bad config') end }", "init"),
        ])
    func badLoads(main: String, word: String) async throws {
        let error = await #expect(throws: SluiceError.self) { try await PluginText(["request"], main).loaded() }
        #expect(error?.code == .invalidArgument && error?.cause is PluginFailure)
        #expect(error.map { "\($0)".contains(word) } == true)
    }

    @Test("init runs once for each machine, with the configuration, and may not wait")
    func initialize() async throws {
        let schema: JSON = ["type": "object", "properties": ["size": ["type": "integer", "default": 7]]]
        func load(_ body: String) async throws -> Plugins {
            try await PluginText(
                ["request", "init"], "return { request = function() end, init = function(ctx)\n\(body)\nend }",
                extra: ["config_schema": schema]
            ).loaded()
        }
        _ = try await load("assert(ctx.config.size == 7)")
        for body in ["ctx.sleep(1)", "ctx.config.size = 8", "error('no')", "while true do end"] {
            let error = await #expect(throws: SluiceError.self) { try await load(body) }
            #expect((error?.cause as? PluginFailure)?.hook == "init")
        }
    }

    @Test("a script that is cancelled while next runs does not go on, whatever it catches")
    func cancelledInNext() async throws {
        let slow = ScriptedTransport { _ in
            try await Task.sleep(for: .seconds(600))
            return .json(200, "{}")
        }
        let plugins = try await PluginText(
            ["filter"],
            """
            return { filter = function(req, next, ctx)
              pcall(next, req)
              return decide.respond { status = 200 }
            end }
            """
        ).loaded()
        let task = Task { try await plugins.send(.sample(), to: slow) }
        while slow.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        let error = await #expect(throws: SluiceError.self) { try await task.value }
        #expect(error?.code == .cancelled && slow.requests.count == 1)
        let figures = await plugins.metrics
        #expect(figures.callsUnderWay == 0)
    }
}
