import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("Work of the host that a call pays for")
struct HostWorkTests {
    /// The fuel of one call of a hook that does that with `n`; nil where the call failed.
    private func fuel(_ body: String, _ n: Int, permissions: JSON = .object) async throws -> Int? {
        let text = PluginText(
            ["request"], "return { request = function(req, ctx) local n = \(n) \(body) end }",
            extra: ["permissions": permissions, "deterministic": true])
        let plugins = try await text.loaded()
        _ = try? await plugins.send(.sample(), to: ScriptedTransport([], otherwise: .json(200, "{}")))
        let decision = try #require(await plugins.decisions.first)
        return decision.failure == nil ? decision.fuel : nil
    }

    @Test(
        "twice the text costs at most twice the fuel",
        arguments: [
            "text.trim((' '):rep(n) .. 'a' .. (' '):rep(n) .. 'b')", "text.split(('a,'):rep(n), ',')",
            "text.lines(('a\\r\\n'):rep(n))", "crypto.sha256(('a'):rep(n))", "crypto.base64(('a'):rep(n))",
            "crypto.base64_decode(('a'):rep(n - n % 4))", "crypto.hex(('a'):rep(n))",
            "crypto.seal('0123456789abcdef', ('a'):rep(n))", "crypto.hmac_sha256('k', ('a'):rep(n))",
            "req.query:set_text(('a&'):rep(n)) req.query:get('b')",
            "req.query:set_text(('a&'):rep(n)) req.query:set('b', 1)", "time.parse(('0'):rep(n))",
            "req.body:set_text('[' .. ('1,'):rep(n) .. '1]') req.body:json()", "ctx.log.info(('a'):rep(n))",
            "req.body:set_text(('a'):rep(n)) req.body:sub(2)", "json.decode('[' .. ('1,'):rep(n) .. '1]')",
            "text.diff3(('a\\n'):rep(n // 10), ('a\\n'):rep(n // 10), ('a\\n'):rep(n // 10))",
        ])
    func linear(body: String) async throws {
        let once = try #require(try await fuel(body, 4000))
        let twice = try #require(try await fuel(body, 8000))
        #expect(twice <= once * 21 / 10 && once > 100, "\(once), then \(twice)")
    }

    @Test("what takes the product of two texts is paid for by their product")
    func products() async throws {
        let distance = "text.levenshtein(('a'):rep(n), ('b'):rep(n))"
        let once = try #require(try await fuel(distance, 400))
        let twice = try #require(try await fuel(distance, 800))
        #expect(twice - once > 3 * 400 * 400 / 16)
        let lines = """
            local a, b = {}, {} for i = 1, n do a[i], b[i] = 'x' .. i % 7, 'x' .. i * 3 % 7 end
            text.diff3(table.concat(a, '\\n'), table.concat(b, '\\n'), table.concat(a, '\\n'))
            """
        let few = try #require(try await fuel(lines, 100))
        let many = try #require(try await fuel(lines, 200))
        #expect(many - few > 2 * 100 * 100 / 16)
    }

    @Test("a text that is too long for its function is refused, and its call goes on")
    func refused() async throws {
        for body in [
            "assert(not pcall(text.levenshtein, ('a'):rep(1001), 'a'))",
            "assert(not pcall(text.diff3, ('\\n'):rep(2001), '', ''))",
            "req.query:set_text(('a'):rep(70000)) assert(not pcall(req.query.get, req.query, 'a'))",
        ] {
            #expect(try await fuel(body, 1) != nil, "\(body)")
        }
    }

    @Test("an address that is longer than any server takes is refused before it is read")
    func longAddress() throws {
        #expect(try PluginAddress("https://a.example/?q=" + String(repeating: "a", count: 60_000)).host == "a.example")
        #expect(throws: ScriptFailure.self) {
            try PluginAddress("https://a.example/" + String(repeating: "a", count: 70_000))
        }
    }

    @Test("the sum of a key costs the same the thousandth time")
    func sums() async throws {
        let body = "for i = 1, n do kv.incr('a') end"
        let once = try #require(try await fuel(body, 500, permissions: ["kv": ["bytes": 100]]))
        let twice = try #require(try await fuel(body, 1000, permissions: ["kv": ["bytes": 100]]))
        #expect(twice <= once * 21 / 10)
        #expect(KeyValues.adding(2, to: KeyValues.adding(1, to: [.set(nil)])).count == 2)
    }

    @Test("the check of a record with thousands of large floats looks through what it came from once")
    func largeFloats() throws {
        let count = 9000
        var record: [(String, JSON)] = [("id", "1")]
        var edited = record
        for index in 0..<count {
            record.append(("f\(index)", JSON(1e17 + Double(index) * 1024)))
            // Each field has another one's number.
            edited.append(("f\(index)", JSON(1e17 + Double(count - 1 - index) * 1024)))
        }
        let check = RecordCheck(dialect: .azureV3, schema: nil)
        let time = try processorTime {
            _ = try check.checked(JSON(members: edited), from: [JSON(members: record)], id: "1")
        }
        // The square of it took 40 s in a release build.
        #expect(time < .seconds(5))
    }
}
