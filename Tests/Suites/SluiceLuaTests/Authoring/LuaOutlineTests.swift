import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("Lua texts, read without running them")
struct LuaOutlineTests {
    private func outline(_ text: String) throws -> LuaOutline { try #require(LuaOutline(Array(text.utf8))) }

    @Test("names from outside are told from local ones")
    func names() throws {
        let outline = try outline(
            #"""
            local a, b <const> = x, 1
            for i, v in ipairs(a) do print(i, v, w) end
            local function f(p, ...) return p + q, f, ... end
            function a.b:c() return self end
            local t = { key = y, [z] = "in [[ here", --[==[ comment ]==] 'x' }
            repeat local inner = 1 until inner
            goto done
            ::done::
            return time.now(), ("x"):rep(2), require "lib.rules"
            """#)
        #expect(
            outline.uses.map { $0.path.joined(separator: ".") } == [
                "x", "ipairs", "print", "w", "q", "y", "z", "time.now", "require",
            ])
        #expect(outline.uses.last?.argument == "lib.rules")
        #expect(outline.uses.last?.line == 9)
    }

    @Test("writes are seen: of globals, and of members of what is local")
    func writes() throws {
        let outline = try outline("function f(req) req.url = 'x' g = 1 h.i = 2 end")
        #expect(outline.writes.map(\.path) == [["req", "url"]])
        #expect(outline.uses.filter(\.isWritten).map(\.path) == [["f"], ["g"], ["h", "i"]])
    }

    @Test("statements inside of functions are found")
    func statements() throws {
        let outline = try outline("local a = 1\nlocal function f(x)\n  if x then\n    return 1\n  end\n  x = 2\nend")
        #expect(outline.statements.map(\.lines) == [3...3, 4...4, 6...6])
    }

    @Test("what is no Lua has no outline", arguments: ["local =", "if x", "return )", "x", "f(", "a.b.c"])
    func broken(text: String) { #expect(LuaOutline(Array(text.utf8)) == nil) }
}
