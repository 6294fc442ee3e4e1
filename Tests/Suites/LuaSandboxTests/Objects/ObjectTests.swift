import CJansson
import CLuaSandbox
import Testing

@Suite("Objects over JSON")
struct ObjectTests {
    private func run(_ body: String, _ argument: String = Self.request) throws -> Sandbox.Answer {
        try Sandbox.with("return { run = function(r)\n\(body)\nend }").call("run", argument)
    }

    private static let request =
        #"{"id":7,"method":"GET","n":1.5,"none":null,"inner":{"x":{"y":[1]}},"headers":[["Accept","a"],["X","1"],["x","2"]]}"#

    @Test("members are read as they are, methods and getters before them")
    func reads() throws {
        #expect(
            try run("return { r.id, r.method, r.n, r.none == json.null, r.missing == nil }").result
                == #"[7,"GET",1.5,true,true]"#)
        #expect(try run("return r.inner.x.y[1]").result == "1")
        #expect(
            try run("return { r:get('id'), r:get('get'), type(r.get) }", #"{"id":1,"get":2}"#).result
                == #"[1,2,"function"]"#)
        #expect(
            try run("local t = {} for k, v in pairs(r) do t[#t + 1] = k end return t").result
                == #"["id","method","n","none","inner","headers"]"#)
        #expect(try run("return { tostring(r), #r, r:names()[2] }").result == #"["request",6,"method"]"#)
    }

    @Test("what is written to is a copy: the giver's value stays")
    func writes() throws {
        let sandbox = try Sandbox.with(
            """
            return { run = function(r)
              r.method = 'PUT' r.n = nil r.list = { 1, 'a', json.null } r.inner.x = { z = true }
              r.headers:set('Accept', 'b')
              return r
            end }
            """)
        let value = Value(Self.request)
        let name = "request"
        let answer = name.withCString { name -> (String?, String?, String?) in
            var argument = sluice_argument(class_name: name, value: value.pointer, reader: nil)
            var call: OpaquePointer?
            #expect(sluice_vm_call(sandbox.vm, "run", &argument, 1, Sandbox.budget, 1, &call) == SLUICE_DONE)
            defer { sluice_call_end(call) }
            var isChanged = false
            var className: UnsafePointer<CChar>?
            let argumentText = text(borrowed: sluice_call_argument(call, 0, &isChanged))
            #expect(isChanged)
            let result = text(of: sluice_call_result(call, &className))
            return (argumentText, result, className.map { String(cString: $0) })
        }
        let changed =
            #"{"id":7,"method":"PUT","none":null,"inner":{"x":{"z":true}},"headers":[["Accept","b"],["X","1"],["x","2"]],"list":[1,"a",null]}"#
        #expect(answer == (changed, changed, "request"))
        #expect(text(borrowed: value.pointer) == Self.request)
    }

    @Test("an object that is only read was not changed")
    func unchanged() throws {
        let answer = try run("local a = r.inner.x, r.headers:get('x') return { r:changed(), r.inner:changed() }")
        #expect(answer.changed == nil)
        #expect(answer.result == "[false,false]")
        #expect(try run("r.inner.x = 1 return { r:changed(), r.inner:changed() }").result == "[true,true]")
    }

    @Test(
        "what a class does not let be written stays",
        arguments: ["r.id = 8", "r.get = 1", "r.headers = json.array{}", "r.headers[1] = 'x'", "r[1] = 2", "r[{}] = 1"])
    func readOnly(script: String) throws {
        let answer = try run(script)
        #expect(answer.outcome == SLUICE_FAILED_RUNTIME, "\(answer)")
        #expect(answer.changed == nil)
    }

    @Test("objects in objects are copies, so nothing can be part of itself")
    func nested() throws {
        #expect(try run("r.inner.self = r return r.inner.self.method").result == #""GET""#)
        #expect(
            try run("local a = new { x = 1 } local b = new { a = a } a.x = 2 return { b:get('a').x, a.x }").result
                == "[1,2]")
        #expect(try run("for i = 1, 40 do r.x = r end return 1").outcome == SLUICE_FAILED_RESULT)
        #expect(
            try run("local a = new { x = 1 } return { first = a, second = a }").result
                == #"{"first":{"x":1},"second":{"x":1}}"#)
    }

    @Test("a member that is no object any more says so")
    func gone() throws {
        #expect(try run("local i = r.inner r:set('inner', 5) return i.x").error?.contains("no object any more") == true)
        #expect(try run("local i = r.inner r:set('inner', { x = 9 }) return i.x").result == "9")
        #expect(try run("local i = r.inner r:set('inner', 5) i.x = 1").outcome == SLUICE_FAILED_RUNTIME)
    }

    @Test("a class may be called")
    func callable() throws {
        let sandbox = try Sandbox.with(
            "return { run = function(s) return s(42) end, bad = function(r) return r(1) end }")
        #expect(sandbox.call("run", "{}", as: "seen").result == "42")
        #expect(sandbox.call("bad", "{}").outcome == SLUICE_FAILED_RUNTIME)
        #expect(sandbox.call("run", "{}", as: "no such class").outcome == SLUICE_FAILED_RUNTIME)
    }

    @Test("header names are the same in upper and lower case, and stay in their order")
    func headers() throws {
        #expect(
            try run("return { r.headers:get('ACCEPT'), r.headers:get('X'), r.headers:get('y') == nil }").result
                == #"["a","1",true]"#)
        #expect(try run("return r.headers:get_all('x')").result == #"["1","2"]"#)
        #expect(
            try run("r.headers:set('X', '3') r.headers:add('accept', 'b') r.headers:set('New', 'n') return r.headers")
                .result
                == #"[["Accept","a"],["X","3"],["accept","b"],["New","n"]]"#)
        #expect(try run("return { r.headers:remove('x'), r.headers:remove('x'), #r.headers }").result == "[2,0,1]")
        #expect(try run("r.headers:set('x', nil) return r.headers:to_table()").result == #"[["Accept","a"]]"#)
        #expect(
            try run("local t = {} for n, v in r.headers:pairs() do t[#t + 1] = n .. v r.headers:remove(n) end return t")
                .result
                == #"["Accepta","X1","x2"]"#)
    }

    @Test(
        "what could break out of a header is refused",
        arguments: [
            "r.headers:set('A', 'a\\r\\nB: c')", "r.headers:add('A', 'a\\n')", "r.headers:set('A', 'a\\0')",
            "r.headers:set('A B', 'c')", "r.headers:set('A:', 'c')", "r.headers:set('', 'c')",
            "r.headers:add('A\\n', 'c')",
            "r.headers:set('A', '\\xff')", "r.headers:set('Ä', 'c')", "r.headers:set('A', {})",
        ])
    func badHeaders(script: String) throws {
        let answer = try run(script)
        #expect(answer.outcome == SLUICE_FAILED_RUNTIME, "\(answer)")
        #expect(answer.changed?.contains("B: c") != true)
    }

    @Test("a number that no type of JSON's holds is a text to the script, and stays a number for the host")
    func longNumbers() throws {
        let number = json_object()
        json_object_setn_new_nocheck(number, "", 1, json_string("123456789012345678901234567890.5"))
        let value = Value(#"{"n":0,"m":1}"#)
        json_object_set_new(value.pointer, "n", number)
        let sandbox = try Sandbox.with(
            "return { run = function(r) r.m = r:raw('m') .. type(r.n) r.e = json.encode { r } return r end }")
        "request".withCString { name in
            var argument = sluice_argument(class_name: name, value: value.pointer, reader: nil)
            var call: OpaquePointer?
            #expect(sluice_vm_call(sandbox.vm, "run", &argument, 1, Sandbox.budget, 1, &call) == SLUICE_DONE)
            let result = sluice_call_result(call, nil)?.assumingMemoryBound(to: json_t.self)
            #expect(json_object_get(result, "n") == number)
            #expect(text(borrowed: json_object_get(result, "m")) == #""1string""#)
            #expect(text(borrowed: json_object_get(result, "e"))?.contains("123456789012345678901234567890.5") == true)
            #expect(text(borrowed: json_object_get(result, "e"))?.contains("u0000") == false)
            sluice_json_release(result)
            sluice_call_end(call)
        }
        withExtendedLifetime(value) {}
    }
}
