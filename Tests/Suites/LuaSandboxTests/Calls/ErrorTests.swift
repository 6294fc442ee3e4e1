import CLuaSandbox
import Testing

@Suite("Errors of a script")
struct ErrorTests {
    @Test(
        "an error has its message, its file and its line",
        arguments: [
            ("error('oh')", "oh", 2), ("\nerror('oh')", "oh", 3), ("local x = nil\nreturn x.y", "(local 'x')", 3),
            ("return no_such", "there is no global 'no_such'", 2), ("no_such = 1", "read-only", 2),
            ("\n\n('x'):gsub('%', '')", "pattern", 4), ("error({})", "error object (a table value)", 2),
            ("error()", "error object (a nil value)", 2), ("os.time()", "os.time is not available", 2),
            ("refuse()", "refused", 2), ("fail('permission', 'no')", "no", 2),
            ("string.rep('x', -1, {})", "string expected, got table", 2),
        ])
    func places(script: String, message: String, line: Int) throws {
        let answer = try Sandbox.run(script)
        #expect(answer.error?.contains(message) == true, "\(answer)")
        #expect(answer.error?.hasSuffix(#""file":"main","line":\#(line)}"#) == true, "\(answer)")
    }

    @Test("an error in a module names the module")
    func module() throws {
        let sandbox = try Sandbox.with(
            "local m = require('lib.rules') return { run = function() m.check() end }",
            modules: ["lib.rules": "return {\n check = function()\n  error('bad rule')\n end }"])
        #expect(sandbox.call("run").error == #"{"message":"bad rule","file":"lib.rules","line":3}"#)
    }

    @Test(
        "a plugin that does not load says why",
        arguments: [
            ("return {", "main", 1), ("local x = \n = 5", "main", 2), ("return 5", "", 0), ("return { 1 }", "", 0),
            ("return { run = 1 }", "", 0), ("error('at load')", "main", 1), ("return require('none')", "main", 1),
            ("require('a')", "a", 1), ("require('loop') return {}", "loop", 1),
        ])
    func loading(text: String, file: String, line: Int) {
        do {
            _ = try Sandbox.with(
                text, modules: ["a": "error('in a')", "loop": "return require('loop')"])
            Issue.record("it was loaded")
        } catch let failure as Sandbox.Failure {
            #expect(failure.outcome == SLUICE_FAILED_RUNTIME)
            #expect(failure.description.hasSuffix(#""file":"\#(file)","line":\#(line)}"#), "\(failure)")
        } catch {
            Issue.record(error)
        }
    }

    @Test("a message that is no UTF-8, or very long, reaches the host as one that is")
    func texts() throws {
        #expect(try Sandbox.run("error('\\xff!', 0)").error?.contains("?!") == true)
        let long = try Sandbox.run("error(('ä'):rep(5000), 0)")
        #expect((long.error?.count ?? 0) > 900)
        #expect(long.error?.contains("?") == false)
        #expect((long.error?.utf8.count ?? 0) < 2200)
    }

    @Test("modules are loaded once, and only while the plugin is")
    func modules() throws {
        let sandbox = try Sandbox.with(
            """
            count = 0
            local a, b = require('lib.a'), require('lib.a')
            return { run = function() return { a == b, count, a.name } end, late = function() require('lib.b') end,
              again = function() return require('lib.a').name end }
            """,
            modules: ["lib.a": "count = count + 1 return { name = ... }", "lib.b": "return 1"])
        #expect(sandbox.call("run").result == #"[true,1,"lib.a"]"#)
        #expect(sandbox.call("again").result == #""lib.a""#)
        #expect(sandbox.call("late").error?.contains("require it while the plugin loads") == true)
    }
}
