import CLuaSandbox
import Testing

@Suite("Patterns")
struct PatternTests {
    /// Random patterns over random texts: what comes back, or the error, in a line each.
    private static let corpus =
        Reference.start + #"""
            local pieces = {
              "a", "b", "c", ".", "%a", "%d", "%s", "%w", "%W", "%A", "%x", "%p", "%l", "%u", "%c", "%g", "*", "+", "-",
              "?", "(", ")", "()", "[abc]", "[^a]", "[a-c]", "[%a_]", "[]]", "[^]]", "[a-]", "[-a]", "[%]]", "[", "]",
              "%", "%%", "%b()", "%bab", "%b", "%f[%w]", "%f[^a]", "%f", "%1", "%2", "%0", "%9", "^", "$", "x", "\1",
              "(a*)", "(.-)", "(%w+)", "[a%-c]", "[%a-z]", "[a-%z]", "%z", "%Z", "%q", " ", "1", "_", "\0", "\200",
            }
            local letters = {
              "a", "b", "c", "ab", "abc", "(", ")", "1", "2", " ", "_", "x", "]", "-", "%", "^", "$", "aa", "bb", "\t",
              "Z", "\1", "\0", "\200",
            }
            local changes = { "x", "%0", "%1", "%2", "%%", "%", "%a", "[", "%9", "" }
            local function text(from, most)
              local out = {}
              for i = 1, random(most) - 1 do out[i] = from[random(#from)] end
              return table.concat(out)
            end
            local answers = { a = "A", b = false, ab = 1, ["1"] = "%1" }
            local function answer(a, b)
              if a == "a" then return false end
              if a == "x" then return 12.5 end
              return "<" .. tostring(a) .. "|" .. tostring(b) .. ">"
            end
            local function each(s, p, from)
              local out = {}
              for a, b in s:gmatch(p, from) do
                out[#out + 1] = show(a) .. show(b)
                if #out > 30 then break end
              end
              return table.concat(out, ";")
            end
            local function case()
              local s, p, kind = text(letters, 14), text(pieces, 9), random(5)
              local from = random(4) == 1 and random(14) - 6 or nil
              if kind == 1 then return pcall(string.find, s, p, from, random(10) == 1) end
              if kind == 2 then return pcall(string.match, s, p, from) end
              if kind == 3 then return pcall(each, s, p, from) end
              local change = random(3)
              change = change == 1 and text(changes, 4) or change == 2 and answers or answer
              return pcall(string.gsub, s, p, change, random(4) == 1 and random(4) - 1 or nil)
            end
            return { run = function(a)
              state = a.seed
              local out = {}
              for i = 1, a.count do out[i] = line(case()) end
              return out
            end }
            """#

    @Test("the sandbox's own matcher answers as Lua's does", arguments: 1...10)
    func corpus(seed: Int) throws {
        let (stock, sandbox) = try Reference.answers(Self.corpus, seed: seed * 7919, count: 4000)
        #expect(stock.count == 4000)
        for (index, pair) in zip(stock, sandbox).enumerated() where pair.0 != pair.1 {
            Issue.record("case \(index): Lua says \(pair.0), the sandbox \(pair.1)")
        }
        #expect(stock.count == sandbox.count)
        // The corpus has to have something of everything.
        #expect(stock.count { $0.contains("true") } > 1500)
        #expect(stock.count { $0.contains("malformed pattern") } > 40)
        #expect(stock.count { $0.hasPrefix("true 1") } > 50)
    }

    @Test("a matcher that goes astray is found by its steps, and pays two for a unit of fuel")
    func steps() throws {
        let few = try Sandbox.run("return (('a'):rep(20):find('.-.-b'))")
        let many = try Sandbox.run("return (('a'):rep(200):find('.-.-b'))")
        #expect(few.outcome == SLUICE_DONE && many.outcome == SLUICE_DONE)
        #expect(few.fuel < 2000)
        #expect(many.fuel > 30 * few.fuel)
    }

    @Test("a pattern that was read before means the same the next time")
    func kept() throws {
        let answer = try Sandbox.run(
            """
            local out = {}
            for i = 1, 200 do
              local p = ('(%%d)x%d'):format(i % 70)
              out[#out + 1] = (('7x' .. i % 70):match(p))
            end
            local anchored, literal = ('a^b'):match('^a'), {}
            for c in ('a^a^b'):gmatch('^.') do literal[#literal + 1] = c end
            return { #out, out[200], anchored, table.concat(literal, ',') }
            """)
        #expect(answer.result == #"[200,"7","a","^a,^b"]"#)
    }
}
