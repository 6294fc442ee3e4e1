import SluiceCore
import SluiceLua
import Testing

@Suite("Manifests")
struct PluginManifestTests {
    static let small = #"""
        {"name": "com.example.stock", "version": "1.2.0", "api": "1.0", "hooks": {"on_conflict": {}}}
        """#

    /// The smallest manifest with some members more, or others.
    static func text(_ members: String) throws -> String {
        var json = try JSON(parsing: small)
        for (name, value) in try JSON(parsing: members).members ?? [] { json[name] = value.isNull ? nil : value }
        return json.description
    }

    private func manifest(_ members: String) throws -> PluginManifest {
        try PluginManifest(bytes: Array(Self.text(members).utf8))
    }

    private func refusal(_ text: String) -> String {
        #expect(throws: SluiceError.self) { try PluginManifest(bytes: Array(text.utf8)) }?.message ?? ""
    }

    @Test("what is not said has its default")
    func defaults() throws {
        let manifest = try manifest("{}")
        #expect(manifest.name == "com.example.stock" && manifest.version == "1.2.0" && manifest.main == "main.lua")
        #expect(manifest.permissions == PluginPermissions() && !manifest.isDeterministic)
        #expect(manifest.hooks == [.onConflict: HookDeclaration(.onConflict, of: "com.example.stock")])
        #expect(try manifest.configSchema.filled(.object) == .object)
        #expect(throws: SluiceError.self) { try manifest.configSchema.filled(["a": 1]) }
    }

    @Test("everything that can be said is read")
    func full() throws {
        let manifest = try manifest(
            #"""
            {"$schema": "x", "description": "d", "author": "a", "license": "MIT", "homepage": "https://example.com/x",
             "categories": ["merge"], "main": "stock.lua", "deterministic": false, "min_sdk": "0.1.0",
             "replaces": ["com.example.old"], "conflicts": ["field-merge"],
             "hooks": {"on_conflict": {"match": {"tables": ["stock"]}, "band": "late", "before": ["a"], "after": ["b"],
                       "priority": -3, "on_error": "next", "limits": {"fuel": 1000, "burst": "5ms", "cpu": "9ms", "wall": "1s"}},
                       "init": {"limits": {"fuel": 7}}},
             "config_schema": {"type": "object", "properties": {"n": {"type": "integer", "default": 3}}},
             "permissions": {"http": ["api.Example.com", "*.example.net"], "kv": {"bytes": 65536}, "secrets": ["geo.key"],
                             "read_headers": ["Authorization"], "change": ["request.url"], "clock": true,
                             "random": true, "tables": {"todo*": "rw", "log": "r"}}}
            """#)
        let hook = try #require(manifest.hooks[.onConflict])
        #expect(
            hook.placement
                == Placement("com.example.stock", band: .late, before: ["a"], after: ["b"], priority: -3))
        #expect(hook.onError == .next && hook.match.description == "tables stock")
        #expect(
            hook.budget
                == HookBudget(fuel: 1_000, burst: .milliseconds(5), cpu: .milliseconds(9), wall: .seconds(1)))
        #expect(manifest.hooks[.initialize]?.budget.fuel == 7 && manifest.main == "stock.lua")
        #expect(try manifest.configSchema.filled(.object) == ["n": 3])
        let permissions = manifest.permissions
        #expect(permissions.http == ["api.example.com", "*.example.net"] && permissions.kvBytes == 65_536)
        #expect(permissions.secrets == ["geo.key"] && permissions.readHeaders == ["authorization"])
        #expect(permissions.change == ["request.url"] && permissions.clock && permissions.random)
        #expect(permissions.tables == ["todo*": .readWrite, "log": .read])
        #expect(manifest.replaces == ["com.example.old"] && manifest.conflicts == ["field-merge"])
    }

    @Test(
        "a refusal names the place, what was expected, what is there, and what was perhaps meant",
        arguments: [
            (#"{"name": null}"#, "plugin.json: expected a member name, found none"),
            (#"{"name": "Com.Example"}"#, "plugin.json /name: expected a name such as \"com.example.stock\""),
            (#"{"name": "../x"}"#, "/name: expected a name"), (#"{"name": "a..b"}"#, "/name: expected a name"),
            (#"{"version": "1.2"}"#, "/version: expected a version such as \"1.2.0\", found \"1.2\""),
            (#"{"version": "01.2.3"}"#, "/version: expected a version"),
            (#"{"api": "2.0"}"#, "/api: expected \"1.0\", a version of the plugin API"),
            (#"{"min_sdk": "99.0.0"}"#, "/min_sdk: the plugin needs Sluice 99.0.0 or newer"),
            (#"{"hoks": {}}"#, "/hoks: unknown name; did you mean hooks?"),
            (#"{"hooks": {}}"#, "/hooks: expected at least one hook, found an empty object"),
            (#"{"hooks": {"on_conflct": {}}}"#, "/hooks/on_conflct: unknown name; did you mean on_conflict?"),
            (#"{"hooks": {"filter": {"bend": "late"}}}"#, "/hooks/filter/bend: unknown name; did you mean band?"),
            (
                #"{"hooks": {"filter": {"band": "last"}}}"#,
                "/hooks/filter/band: expected one of auth, early, default, late, observe, found \"last\""
            ),
            (
                #"{"hooks": {"filter": {"on_error": "hold"}}}"#,
                "/hooks/filter/on_error: expected one of fail_closed, fail_open"
            ),
            (#"{"hooks": {"on_push_error": {"on_error": "server"}}}"#, "expected one of hold, next, found \"server\""),
            (
                #"{"hooks": {"filter": {"match": {"status": "4xx"}}}}"#,
                "/hooks/filter/match/status: not known here; a match may ask for tables, methods"
            ),
            (
                #"{"hooks": {"after_pull": {"match": {"kinds": "insert"}}}}"#,
                "/hooks/after_pull/match/kinds: not known here"
            ),
            (
                #"{"hooks": {"filter": {"limits": {"fuel": 300001}}}}"#,
                "/hooks/filter/limits/fuel: expected a whole number from 1 to 300000: limits are lowered only, found 300001"
            ),
            (
                #"{"hooks": {"filter": {"limits": {"wall": "3s"}}}}"#,
                "/limits/wall: expected a length of time from \"1ms\" to \"2000ms\""
            ),
            (#"{"hooks": {"filter": {"limits": {"burst": 5}}}}"#, "/limits/burst: expected a length of time"),
            (#"{"hooks": {"before_enqueue": {"limits": {"wall": "1ms"}}}}"#, "/limits/wall: unknown name"),
            (#"{"hooks": {"init": {"band": "late"}}}"#, "/hooks/init/band: unknown name"),
            (#"{"hooks": {"filter": {"priority": 1.5}}}"#, "/hooks/filter/priority: expected a whole number"),
            (
                #"{"hooks": {"request": {}, "response": {"band": "late"}}}"#,
                "/hooks/response: expected band, before, after and priority of request"
            ),
            (
                #"{"hooks": {"after_pull": {}, "after_pull_page": {}}}"#,
                "/hooks/after_pull_page: after_pull is there too"
            ),
            (#"{"main": "../main.lua"}"#, "/main: expected the name of a file of the bundle"),
            (#"{"main": "/etc/passwd.lua"}"#, "/main: expected the name"),
            (#"{"main": "main.txt"}"#, "/main: expected the name"),
            (#"{"homepage": "javascript:x"}"#, "/homepage: expected an address"),
            (#"{"permissions": {"http": ["http://x"]}}"#, "/permissions/http/0: expected a host"),
            (#"{"permissions": {"http": ["*"]}}"#, "/permissions/http/0: expected a host"),
            (#"{"permissions": {"http": ["a:0"]}}"#, "/permissions/http/0: expected a host"),
            (#"{"permissions": {"http": ["a:+1"]}}"#, "/permissions/http/0: expected a host"),
            (
                #"{"permissions": {"http": ["{url}"]}}"#,
                "or \"{name}\" for a property of config_schema whose format is uri"
            ),
            (#"{"permissions": {"kv": true}}"#, "/permissions/kv: expected an object with the room that it needs"),
            (#"{"permissions": {"kv": {}}}"#, "/permissions/kv: expected a member bytes"),
            (#"{"permissions": {"kv": {"bytes": -1}}}"#, "/permissions/kv/bytes: expected a whole number from 1"),
            (
                #"{"permissions": {"read_headers": ["a b"]}}"#,
                "/permissions/read_headers/0: expected the name of a header"
            ),
            (#"{"permissions": {"change": ["request.body"]}}"#, "/permissions/change/0: expected one of request.url"),
            (#"{"permissions": {"tables": {"t": "w"}}}"#, "/permissions/tables/t: expected one of r, rw, found \"w\""),
            (#"{"permissions": {"clock": 1}}"#, "/permissions/clock: expected true or false, found 1"),
            (
                #"{"deterministic": true, "permissions": {"http": ["a"]}}"#,
                "/permissions: a deterministic plugin has no http"
            ),
            (#"{"config_schema": {"type": "array"}}"#, "/config_schema: expected the type object"),
            (#"{"categories": "merge"}"#, "/categories: expected a list, found \"merge\""),
        ])
    func refusals(members: String, reason: String) throws {
        let message = refusal(try Self.text(members))
        #expect(message.contains(reason), "\(message)")
    }

    @Test("what is no JSON is refused with its line and column")
    func noJSON() {
        #expect(refusal("{\n  \"name\": nope}").hasPrefix("plugin.json: not valid JSON"))
        #expect(refusal("").contains("not valid JSON") && refusal("[]").contains("expected an object"))
        #expect(refusal(#"{"name": "a", "name": "b"}"#).contains("repeated member name"))
    }

    @Test("bombs are refused: depth, size, number of values, names that are themselves hostile")
    func bombs() {
        #expect(refusal(String(repeating: "[", count: 30_000)).contains("not valid JSON"))
        #expect(
            refusal("{\"a\":" + String(repeating: "[", count: 60) + String(repeating: "]", count: 60) + "}").contains(
                "unknown name"))
        #expect(refusal(String(repeating: " ", count: 70_000)).contains("at most 65536 bytes"))
        #expect(refusal("[" + String(repeating: "0,", count: 20_000) + "0]").contains("not valid JSON"))
        let message = refusal("{\"" + String(repeating: "x", count: 10_000) + "\\u0007\\u202e\\n\": 1}")
        #expect(message.utf8.count < 1_000 && !message.contains("\u{7}") && !message.contains("\n"))
    }

    @Test("versions are in the order of semantic versioning")
    func versions() throws {
        for newer in ["0.1.0", "0.1.0-rc.1", "0.0.9", "0.1.0-alpha", "0.1.0+build"] {
            _ = try manifest(#"{"min_sdk": "\#(newer)"}"#)
        }
        for newer in ["0.1.1", "0.2.0-alpha", "1.0.0"] {
            #expect(refusal(try Self.text(#"{"min_sdk": "\#(newer)"}"#)).contains("or newer"))
        }
    }
}
