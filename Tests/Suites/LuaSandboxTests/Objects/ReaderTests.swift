import CJansson
import CLuaSandbox
import Glibc
import Testing

@Suite("Objects that are read where they stand")
struct ReaderTests {
    /// An object as a reader gives it, and how often it was asked.
    private final class Text {
        let value: Value
        var members = 0
        var wholes = 0

        init(_ text: String) { value = Value(text) }

        private static func member(_ value: UnsafeMutablePointer<json_t>?) -> sluice_member {
            var member = sluice_member()
            guard let value else { return member }
            member.kind = SLUICE_MEMBER_VALUE
            switch json_type(rawValue: UInt32(sluice_json_type(value))) {
            case JSON_NULL: member.kind = SLUICE_MEMBER_NULL
            case JSON_TRUE: (member.kind, member.boolean) = (SLUICE_MEMBER_BOOLEAN, true)
            case JSON_FALSE: member.kind = SLUICE_MEMBER_BOOLEAN
            case JSON_INTEGER:
                (member.kind, member.integer) = (SLUICE_MEMBER_INTEGER, Int64(json_integer_value(value)))
            case JSON_REAL: (member.kind, member.real) = (SLUICE_MEMBER_REAL, json_real_value(value))
            case JSON_STRING where json_string_length(value) != 1:
                member.kind = SLUICE_MEMBER_TEXT
                (member.text, member.length) = (json_string_value(value), json_string_length(value))
            default: member.value = UnsafeMutableRawPointer(sluice_json_retain(value))
            }
            return member
        }

        func reader() -> sluice_reader {
            sluice_reader(
                context: Unmanaged.passUnretained(self).toOpaque(),
                member: { context, name, count in
                    guard let context else { return sluice_member() }
                    let text = Unmanaged<Text>.fromOpaque(context).takeUnretainedValue()
                    text.members += 1
                    return Text.member(json_object_getn(text.value.pointer, name, count))
                },
                whole: { context in
                    guard let context else { return nil }
                    let text = Unmanaged<Text>.fromOpaque(context).takeUnretainedValue()
                    text.wholes += 1
                    return json_deep_copy(text.value.pointer).map { UnsafeMutableRawPointer($0) }
                })
        }
    }

    /// What came of a call by a reader.
    private struct Read {
        var outcome: sluice_outcome
        var result: String?
        var changed: String?
        var error: String?
        /// What was set, if the hook has done no more than that.
        var set: String?
        var hasSetOnly: Bool
        var wholes: Int
    }

    private func read(_ sandbox: Sandbox, _ hook: String, _ text: String) -> Read {
        let text = Text(text)
        var reader = text.reader()
        return withUnsafePointer(to: &reader) { reader in
            "request".withCString { name in
                var argument = sluice_argument(class_name: name, value: nil, reader: reader)
                var call: OpaquePointer?
                let outcome = sluice_vm_call(sandbox.vm, hook, &argument, 1, Sandbox.budget, 1, &call)
                defer { sluice_call_end(call) }
                var members: UnsafeRawPointer?
                let hasSetOnly = sluice_call_has_set_only(call, 0, &members)
                let (wholes, set) = (text.wholes, hasSetOnly ? members.map { LuaSandboxTests.text(borrowed: $0) } : nil)
                var isChanged = false
                let argumentNow = sluice_call_argument(call, 0, &isChanged)
                return Read(
                    outcome: outcome, result: LuaSandboxTests.text(of: sluice_call_result(call, nil)),
                    changed: isChanged ? LuaSandboxTests.text(borrowed: argumentNow) : nil,
                    error: LuaSandboxTests.text(of: sluice_call_error(call)), set: set ?? nil, hasSetOnly: hasSetOnly,
                    wholes: wholes)
            }
        }
    }

    static let document =
        #"{"id":"1","a":1,"b":"x","c":null,"yes":true,"real":1.5,"text":"xyz","list":[1,2],"inner":{"x":1},"#
        + #""headers":[["k","v"]],"":0}"#

    static let scripts = [
        "", "return r", "return r.a", "return { r.a, r.b, r.c == json.null, r.none == nil, r[''], r.id }",
        "return { r.yes, r.real, r.text }", "r.a = 2", "r.a = 2 return r", "r.a = 2 return r.a",
        "r.a = 2 r.a = 3 r.new = 'n' return { r.a, r.new }",
        "r.a = nil", "r.a = 2 r.a = nil return r.a == nil", "r.a = 2 r.b = nil return r", "r.id = '2'", "r[1] = 1",
        "r['z\\0'] = 1", "r['\\xff'] = 1", "r.a = '\\xff'", "r.a = function() end", "r.a = 0/0",
        "r.a = { 1, 2 } return r.a", "r.list = { r.a } return r", "r.self = r return r", "r.a = 5 r.self = r return r",
        "return { r }", "return r.list", "return r.inner.x", "r.inner.x = 7 return r", "r.a = 2 r.inner.x = 7 return r",
        "r.headers:set('k', 'w')", "r:set('id', 5) return r:get('id')", "r.b = 'y' return r:names()",
        "return r:to_table()", "r.b = 'y' return r:to_table()", "return r:raw('a')", "r.a = 8 return r:raw('a')",
        "return #r", "r.more = 1 return #r", "return r:changed()", "r.a = 1 return r:changed()",
        "for i = 1, 40 do r.a = r.a + 1 end return r.a", "for i = 1, 15 do local x = r.b end r.a = r.b return r",
        "for i = 1, 40 do r['k' .. i] = i end return r", "r.a = new { r = r }", "local t = {} t.t = t r.a = t",
        "return json.encode(r)", "r.a = 2 return json.encode(r)", "return r.a.b", "error('no')", "r.a = 2 error('no')",
        // Sorted: a table's own order differs from run to run, and which read-only member is met first with it.
        "local t = r:names() table.sort(t) for _, k in ipairs(t) do r[k] = nil end return r",
        "return r == r", "r.a = json.null return r",
    ]

    @Test("are what objects by value are", arguments: scripts)
    func same(script: String) throws {
        let text = "return { run = function(r)\n\(script)\nend }"
        let byValue = try Sandbox.with(text).call("run", Self.document)
        let sandbox = try Sandbox.with(text)
        for _ in 0..<2 {
            let read = read(sandbox, "run", Self.document)
            #expect(read.outcome == byValue.outcome && read.error == byValue.error)
            // The order of members is no part of an object.
            #expect(Value.same(read.result, byValue.result), "\(read) \(byValue)")
            #expect(Value.same(read.changed, byValue.changed), "\(read) \(byValue)")
            #expect(sluice_vm_is_balanced(sandbox.vm))
        }
    }

    @Test(
        "tell that members were set and nothing else was done",
        arguments: [
            ("r.a = 2", #"{"a":2}"#), ("r.a = r.b r.new = r.a", #"{"a":"x","new":"x"}"#), ("local x = r.a", nil),
            ("r.a = 2 return r", #"{"a":2}"#), ("return r", nil), ("r.b = r.list", #"{"b":[1,2]}"#),
        ])
    func setOnly(script: String, set: String?) throws {
        let sandbox = try Sandbox.with("return { run = function(r)\n\(script)\nend }")
        let read = read(sandbox, "run", Self.document)
        #expect(read.hasSetOnly && read.set == set && read.wholes == 0)
    }

    @Test(
        "tell when more was done",
        arguments: [
            "r.a = nil", "return r.a", "r.inner.x = 2", "r.self = r", "return r:to_table()", "return r.inner",
            "for i = 1, 17 do local x = r.a end", "return {}", "error('no')", "while true do end",
        ])
    func more(script: String) throws {
        let sandbox = try Sandbox.with("return { run = function(r)\n\(script)\nend }")
        #expect(!read(sandbox, "run", Self.document).hasSetOnly)
    }

    @Test("are dead after their call")
    func dead() throws {
        let sandbox = try Sandbox.with(
            "local kept return { keep = function(r) kept = r end, run = function(r) return kept.a end }")
        #expect(read(sandbox, "keep", Self.document).outcome == SLUICE_DONE)
        #expect(read(sandbox, "run", Self.document).error?.contains("used after its call") == true)
    }
}

extension Value {
    /// Whether two texts are the same JSON value.
    fileprivate static func same(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == right }
        func parsed(_ text: String) -> UnsafeMutablePointer<json_t>? { json_loads(text, Int(JSON_DECODE_ANY), nil) }
        let (one, other) = (parsed(left), parsed(right))
        defer {
            if let one { sluice_json_release(one) }
            if let other { sluice_json_release(other) }
        }
        return json_equal(one, other) == 1
    }
}
