import CLuaSandbox
import Testing

/// Each function of the libraries on something twice as long: what it costs may double, and no more. A function whose
/// work grows faster than its price could be called until nobody waits any more.
@Suite("What library functions cost, as their arguments grow")
struct FuelGrowthTests {
    private func fuel(_ body: String, _ n: Int) throws -> Int64 {
        let sandbox = try Sandbox.with("return { run = function()\nlocal n = \(n)\n\(body)\nend }")
        var budget = Sandbox.budget
        budget.fuel = 100_000_000
        let answer = sandbox.call("run", budget: budget)
        #expect(answer.outcome == SLUICE_DONE, "\(answer)")
        return answer.fuel
    }

    static let list = "local t = {} for i = 1, n do t[i] = i end "
    static let text = "local s = ('ab'):rep(n) "

    static let calls = [
        "local s = ('x'):rep(n)", "local s = ('x'):rep(n, ',')", text + "s:byte(1, 4000)", text + "s:lower()",
        text + "s:reverse()", text + "s:sub(2)", text + "s:find('y', 1, true)", text + "s:find('[yz]')",
        text + "s:gsub('a', 'c')", text + "s:gsub('.', { a = 'c' })", text + "s:gsub('%w', function() end)",
        text + "for w in s:gmatch('a') do end", text + "s:match('^(.*)$')", text + "local f = ('%s'):format(s)",
        text + "local f = ('%q'):format(s)", "local f = ('x'):find('[' .. ('%a'):rep(n) .. ']')",
        "local f = ('x'):find('[' .. ('a-z'):rep(n) .. ']')", text + "s:match('%b()')",
        list + "table.concat(t, ',')", list + "table.insert(t, 1, 0)", list + "table.remove(t, 1)",
        list + "table.move(t, 1, #t, 2)", list + "for k in pairs(t) do end", list + "for k in ipairs(t) do end",
        list + "local k = nil repeat k = next(t, k) until k == nil", list + "json.encode(t)",
        "json.decode('[' .. ('1,'):rep(n) .. '1]')", "utf8.len(('ä'):rep(n))", "utf8.offset(('ä'):rep(n), -1)",
        "for p, c in utf8.codes(('ä'):rep(n)) do end", "utf8.codepoint(('ä'):rep(n), 1, 999)",
        "local f = utf8.codes('a') pcall(f, 'a' .. ('\\128'):rep(n), 1)",
        "local t = {} for i = 1, n do t[i] = 'k' .. i end local u = table.concat(t)", "tostring(n)",
        "local t = {} for i = 1, n do t['k' .. i] = i end json.encode(t)",
    ]

    @Test("twice the length costs at most twice the fuel", arguments: calls)
    func linear(body: String) throws {
        let once = try fuel(body, 2000), twice = try fuel(body, 4000)
        // A table's memory grows in steps.
        #expect(Double(twice) <= Double(once) * 2.4 + 200, "\(once), then \(twice)")
    }

    @Test("a sort costs a little more than its length")
    func sort() throws {
        let body = Self.list + "table.sort(t, function(a, b) return a > b end) table.sort(t)"
        let once = try fuel(body, 2000), twice = try fuel(body, 4000)
        #expect(Double(twice) <= Double(once) * 2.6, "\(once), then \(twice)")
    }

    @Test("a class in a set costs what it takes to try it with every byte")
    func sets() throws {
        let plain = try fuel("('x'):find('[' .. ('ab'):rep(n) .. ']')", 2000)
        let classes = try fuel("('x'):find('[' .. ('%a'):rep(n) .. ']')", 2000)
        #expect(classes - plain >= 2000 * 16)
    }
}
