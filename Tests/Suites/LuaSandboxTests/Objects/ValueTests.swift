import CLuaSandbox
import Testing

@Suite("Values")
struct ValueTests {
    @Test(
        "a JSON value comes back as it went in",
        arguments: [
            "1", "-1", "9223372036854775807", "-9223372036854775808", "1.5", "0.25", "true", "false", "null",
            #""""#, #""a""#, #""ä€😀\u0000\n\\\"""#, "[]", "{}", "[1,[2,[3]]]", #"{"a":{"b":[]},"c":{}}"#,
            "[null,1,null]",
            #"{"a":null}"#, "3.0", #"[{"a":1},{"b":2}]"#,
        ])
    func roundTrip(json: String) throws {
        let sandbox = try Sandbox.with(
            "return { run = function(v) return v end, text = function(v) return json.encode(v) end }")
        #expect(sandbox.call("run", json, as: nil).result == json)
        let text = Value(sandbox.call("text", json, as: nil).result ?? "0").string
        #expect(text == json)
    }

    @Test(
        "what cannot be said in JSON is refused",
        arguments: [
            ("0/0", "not finite"), ("1/0", "not finite"), ("print and type", "function"), ("{ type }", "function"),
            ("'\\xff'", "UTF-8"), ("{ ['\\xff'] = 1 }", "UTF-8"), ("{ ['a\\0b'] = 1 }", "zero byte"),
            ("{}", "empty table"),
            ("{ a = {} }", "empty table"), ("{ 1, nil, 3 }", "hole"), ("{ [2] = 1 }", "hole"),
            ("{ [0] = 1 }", "whole number"),
            ("{ [1.5] = 1 }", "whole number"), ("{ 1, a = 2 }", "both kinds"), ("{ [true] = 1 }", "neither"),
            ("(function() local t = {} t[1] = t return t end)()", "cycle"),
            ("(function() local t = { 1 } for i = 1, 40 do t = { t } end return t end)()", "deep"),
            ("(function() local t = {} for i = 1, 10001 do t[i] = 1 end return t end)()", "too many"),
            ("(function() local t = {} for i = 1, 10001 do t['k' .. i] = 1 end return t end)()", "too many"),
        ])
    func refused(expression: String, reason: String) throws {
        let answer = try Sandbox.run("local print = 1 return \(expression)")
        #expect(answer.outcome == SLUICE_FAILED_RESULT, "\(answer)")
        #expect(answer.error?.contains(reason) == true, "\(answer)")
        #expect(try Sandbox.run("local print = 1 return echo(\(expression))").outcome == SLUICE_FAILED_RESULT)
    }

    @Test("an empty table says which it is, also when it was emptied")
    func marks() throws {
        #expect(try Sandbox.run("return { json.array {}, json.object {} }").result == "[[],{}]")
        let sandbox = try Sandbox.with("return { run = function(v) v.a[1] = nil v.b.x = nil return v end }")
        #expect(sandbox.call("run", #"{"a":[1],"b":{"x":1}}"#, as: nil).result == #"{"a":[],"b":{}}"#)
    }

    @Test(
        "a number is written in the fewest digits that read back as the same",
        arguments: [
            ("0.1", "0.1"), ("1/3", "0.3333333333333333"), ("2^53", "9007199254740992.0"), ("1e100", "1e+100"),
            ("-0.0", "-0.0"), ("5e-324", "4.94065645841247e-324"), ("0.1 + 0.2", "0.30000000000000004"), ("3", "3"),
            ("1e15", "1e+15"), ("math.mininteger", "-9223372036854775808"),
        ])
    func numbers(expression: String, text: String) throws {
        #expect(try Sandbox.run("return json.encode(\(expression))").result == "\"\(text)\"")
    }

    @Test("members of a table come in the order of their names")
    func order() throws {
        #expect(
            try Sandbox.run("return { c = 1, a = 2, b = { z = 1, y = 2 } }").result
                == #"{"a":2,"b":{"y":2,"z":1},"c":1}"#)
    }

    @Test("text that is no JSON is no error, but nil and a reason")
    func decoding() throws {
        #expect(try Sandbox.run("return json.decode('[1, {\"a\": null}]')[2].a == json.null").result == "true")
        #expect(
            try Sandbox.run("local v, e = json.decode('[1') return { v == nil, type(e) }").result == #"[true,"string"]"#
        )
        #expect(try Sandbox.run("return json.decode('{\"a\":1,\"a\":2}') == nil").result == "true")
        #expect(try Sandbox.run("return json.decode('{\"\\\\u0000\":\"1\"}') == nil").result == "true")
    }

    @Test("a read-only table is read like any other, and changed by nobody")
    func frozen() throws {
        let script = """
            local c, out = config, {}
            for k, v in pairs(c) do out[#out + 1] = k end
            table.sort(out)
            for i, v in ipairs(c.list) do out[#out + 1] = v end
            return { out, #c.list, table.concat(c.list, '-'), c.deep.x.y, c.missing == nil, { table.unpack(c.list) },
              next(c.list), c, select('#', next(c)) }
            """
        let sandbox = try Sandbox.with(
            "return { run = function()\n\(script)\nend }", config: #"{"list":[1,2,3],"deep":{"x":{"y":"z"}}}"#)
        #expect(
            sandbox.call("run").result
                == #"[["deep","list",1,2,3],3,"1-2-3","z",true,[1,2,3],1,{"deep":{"x":{"y":"z"}},"list":[1,2,3]},2]"#)
        for write in [
            "config.a = 1", "config.list[1] = 2", "config.deep.x.y = 1", "table.insert(config.list, 1)",
            "table.remove(config.list)", "table.sort(config.list)", "table.move(config.list, 1, 3, 2)",
            "table.move({ 1 }, 1, 1, 1, config.list)", "setmetatable(config, nil)", "setmetatable(config.deep, {})",
            "local _, t = pairs(config) t.a = 1", "local f, t = ipairs(config.list) t[1] = 5",
            "json.array(config.list)[1] = 2",
        ] {
            let attempt = try Sandbox.with(
                "return { run = function()\n\(write)\nend, read = function() return config end }",
                config: #"{"list":[1,2,3],"deep":{"x":{"y":"z"}}}"#)
            #expect(attempt.call("run").outcome == SLUICE_FAILED_RUNTIME, "\(write)")
            #expect(attempt.call("read").result == #"{"deep":{"x":{"y":"z"}},"list":[1,2,3]}"#, "\(write)")
        }
    }

    @Test("setmetatable takes the metamethods as they are, and shares what has not changed")
    func metatables() throws {
        let answer = try Sandbox.run(
            """
            local m = { __index = { a = 1 } }
            local first = setmetatable({}, m)
            m.__call = function() return 'called' end
            local second = setmetatable({}, m)
            return { first.a, pcall(first), second(), second.a }
            """)
        #expect(answer.result?.hasPrefix(#"[1,false,"called",1]"#) == true, "\(answer)")
    }

    @Test("a profile says what each line of the plugin has cost")
    func profile() throws {
        let sandbox = try Sandbox.with(
            """
            return { run = function()
              local s = 0
              for i = 1, 1000 do
                s = s + i
              end
              return ('x'):rep(20000)
            end }
            """)
        sluice_vm_profile_start(sandbox.vm)
        let answer = sandbox.call("run")
        let profile = text(of: sluice_vm_profile_take(sandbox.vm)) ?? ""
        #expect(answer.outcome == SLUICE_DONE)
        let lines = profile.matches(of: /"main:(\d+)":(\d+)/).map { (Int($0.1) ?? 0, Int($0.2) ?? 0) }
        let costs = Dictionary(uniqueKeysWithValues: lines)
        #expect((900...1300).contains(costs[4] ?? 0), "\(profile)")
        #expect((costs[6] ?? 0) > 500)
        #expect(costs.keys.allSatisfy { (1...7).contains($0) })
        let unprofiled = sandbox.call("run")
        #expect(abs(unprofiled.fuel - answer.fuel) < 300)
    }
}
