import Foundation
import SluiceCore
import Testing

@testable import SluiceLua

@Suite("Policies")
struct PluginPolicyTests {
    private let place: PolicyFolder

    init() throws {
        place = try PolicyFolder()
        try place.add(
            "com.example.stock",
            #"""
            {"hooks": {"on_conflict": {"match": {"tables": "stock*", "deployment": {"ring": "canary"}}, "band": "late",
                       "limits": {"fuel": 500000}}, "request": {}, "response": {"match": {"status": "5xx"}}, "init": {}},
             "permissions": {"secrets": ["own"]},
             "config_schema": {"type": "object", "properties": {"n": {"type": "integer", "default": 3},
               "key": {"type": "string", "format": "secret"},
               "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}}}}
            """#)
        try place.add("trace", #"{"hooks": {"filter": {}, "on_event": {}}}"#)
    }

    private let small = "plugins:\n  com.example.stock:\n    path: plugins/stock\n"

    @Test("what the policy leaves out is as the manifest says")
    func defaults() throws {
        let plan = try #require(try place.policy(small).plans.first)
        #expect(plan.name == "com.example.stock" && plan.mode == .enforce && plan.config == ["n": 3])
        #expect(plan.memoryBytes == 8 << 20 && plan.secrets == ["own"] && plan.deployment == Deployment())
        let hook = try #require(plan.hooks[.onConflict])
        #expect(hook.budget.fuel == 500_000 && hook.onError == .hold && hook.placement.band == .late)
        #expect(!hook.match.isPossible && plan.hooks.count == 4)
        #expect(try place.policy("plugins:").plans.isEmpty)
    }

    @Test("the policy goes over the manifest, key by key")
    func overrides() throws {
        let policy = try place.policy(
            """
            deployment: { id: shop, labels: { ring: canary, 1: 2 } }
            plugins:
              com.example.stock:
                path: plugins/stock
                mode: shadow
                config: { n: 5, key: geo.key }
                disabled: [stock_old]
                memory: 1MiB
                order: { priority: 7, after: [trace] }
                hooks:
                  on_conflict:
                    order: { band: early, before: [x] }
                    on_error: client
                    limits: { fuel: 1000, burst: 2ms, wall: 1s }
              trace: { path: plugins/trace }
            """)
        let plan = try #require(policy.plans.first)
        #expect(plan.mode == .shadow && plan.config == ["n": 5, "key": "geo.key"] && plan.memoryBytes == 1 << 20)
        #expect(plan.secrets == ["own", "geo.key"])
        #expect(plan.deployment == Deployment(id: "shop", labels: ["ring": "canary", "1": "2"]))
        let hook = try #require(plan.hooks[.onConflict])
        #expect(
            hook.placement
                == Placement("com.example.stock", band: .early, before: ["x"], after: ["trace"], priority: 7))
        #expect(hook.onError == .client)
        #expect(
            hook.budget
                == HookBudget(fuel: 1_000, burst: .milliseconds(2), cpu: .milliseconds(100), wall: .seconds(1)))
        #expect(hook.match.matches(MatchSubject(table: "stock")))
        #expect(!hook.match.matches(MatchSubject(table: "stock_old")))
        #expect(plan.hooks[.request]?.placement.after == ["trace"] && plan.hooks[.request]?.placement.band == .default)
        #expect(plan.hooks[.request]?.match.matches(MatchSubject(table: "stock_old")) == false)
    }

    @Test(
        "each refusal says file, line and column",
        arguments: [
            ("plugin:\n", "plugins.yaml:1:1: unknown key plugin in the policy; did you mean plugins?"),
            ("plugins:\n  Stock: {}\n", "plugins.yaml:2:3: a plugin's name has small letters"),
            ("plugins:\n  stock: {}\n", "plugins.yaml:2:3: the key path is missing"),
            ("plugins:\n  stock:\n    path: plugins/nope\n", "plugins.yaml:3:11: "),
            ("mode: of\n", "plugins.yaml:1:7: mode cannot be of; did you mean off?"),
            ("SMALL    mode: false\n", "plugins.yaml:4:11: mode cannot be false"),
            ("SMALL    confg: {}\n", "plugins.yaml:4:5: unknown key confg"),
            ("SMALL    config: { n: a }\n", "plugins.yaml:4:18: config /n: expected a whole number, found \"a\""),
            ("SMALL    config: { m: 1 }\n", "plugins.yaml:4:18: config /m: unknown name; did you mean n?"),
            ("SMALL    config: 5\n", "plugins.yaml:4:13: config: expected an object, found 5"),
            (
                "SMALL    config:\n      list:\n        - a: x\n        - a: [1]\n",
                "plugins.yaml:7:14: config /list/1/a: expected a text, found a list"
            ),
            ("SMALL    config: { key: my secret! }\n", "plugins.yaml:4:20: config /key: expected the name of a secret"),
            ("SMALL    disabled: audit\n", "plugins.yaml:4:15: disabled must be a list"),
            ("SMALL    disabled: [\"\"]\n", "plugins.yaml:4:16: disabled[0] must be a text"),
            (
                "SMALL    memory: 9MiB\n",
                "plugins.yaml:4:13: memory must be a size from 256KiB to 8MiB: limits are lowered only"
            ),
            ("SMALL    memory: 99999999999999999999MiB\n", "plugins.yaml:4:13: memory must be"),
            ("SMALL    memory: 9223372036854775807MiB\n", "plugins.yaml:4:13: memory must be"),
            ("SMALL    order: { band: last }\n", "plugins.yaml:4:20: band cannot be last; use auth, early"),
            ("SMALL    order: { after: stock }\n", "plugins.yaml:4:21: after must be a list"),
            ("SMALL    order: { priority: 1e9 }\n", "plugins.yaml:4:24: priority must be a whole number"),
            (
                "SMALL    hooks: { filter: {} }\n",
                "plugins.yaml:4:14: com.example.stock has no hook filter; it has request, response, on_conflict, init"
            ),
            ("SMALL    hooks: { requst: {} }\n", "has no hook requst; did you mean request?"),
            ("SMALL    hooks: { init: { on_error: hold } }\n", "plugins.yaml:4:22: unknown key on_error in init"),
            (
                "SMALL    hooks: { request: { on_error: hold } }\n",
                "plugins.yaml:4:35: on_error cannot be hold; use fail_closed, fail_open"
            ),
            (
                "SMALL    hooks: { on_conflict: { limits: { fuel: 500001 } } }\n",
                "plugins.yaml:4:45: fuel of on_conflict must be a whole number from 1 to 500000: limits are lowered only"
            ),
            (
                "SMALL    hooks: { on_conflict: { limits: { wall: 6s } } }\n",
                "wall of on_conflict must be a length of time from \"1ms\" to \"5000ms\""
            ),
            (
                "SMALL    hooks: { request: { order: { band: late } } }\n",
                "plugins.yaml:2:3: request and response of com.example.stock stand in one place"
            ),
            (
                "SMALL    order: { after: [trase] }\n  trace:\n    path: plugins/trace\n",
                "plugins.yaml:2:3: chain http: com.example.stock wants to stand after trase, and there is no such link; did you mean trace?"
            ),
            ("deployment: { labels: [a] }\n", "plugins.yaml:1:23: labels must be a mapping"),
            ("", "plugins.yaml: the file is empty"),
            ("plugins: [\n", "plugins.yaml:"),
        ])
    func refusals(yaml: String, reason: String) {
        let message = place.refusal(yaml.replacingOccurrences(of: "SMALL", with: small))
        #expect(message.contains(reason), "\(message)")
        #expect(!message.contains("my secret"))
    }

    @Test("a mistake in a manifest is told with both places")
    func manifest() throws {
        try place.add("bad", #"{"api": "7"}"#)
        let message = place.refusal("plugins:\n  bad:\n    path: plugins/bad\n")
        #expect(message.hasPrefix("plugins.yaml:3:11: ") && message.contains("plugins/bad/plugin.json /api: expected"))
    }

    @Test("the top mode is the most that a plugin may do", arguments: PluginMode.allCases, PluginMode.allCases)
    func modes(top: PluginMode, own: PluginMode) throws {
        let policy = try place.policy(
            "mode: \(top.rawValue)\nplugins: { trace: { path: plugins/trace, mode: \(own.rawValue) } }")
        let order: [PluginMode] = [.off, .shadow, .enforce]
        #expect(policy.plans.first?.mode == order.first { $0 == top || $0 == own })
        #expect(policy.running.isEmpty == (top == .off || own == .off))
    }

    @Test("plugins that cannot run side by side do not, unless one is off")
    func neighbours() throws {
        try place.add("new", #"{"replaces": ["trace"], "conflicts": ["com.example.stock"]}"#)
        let pair = "plugins:\n  trace: { path: plugins/trace }\n  new: { path: plugins/new }\n"
        #expect(
            place.refusal(pair) == "plugins.yaml:3:3: new stands in the place of trace; set mode: off for one of them")
        _ = try place.policy(pair.replacingOccurrences(of: "plugins/trace }", with: "plugins/trace, mode: off }"))
        #expect(
            place.refusal(small + "  new: { path: plugins/new }\n").contains("new cannot run beside com.example.stock"))
    }

    @Test("filters in Swift and plugins stand in one order; a name may be that of a plugin without a hook there")
    func chains() throws {
        let policy = try place.policy(
            small + "    order: { after: [trace, Tenant] }\n  trace: { path: plugins/trace, order: { band: late } }\n"
                + "  other: { path: plugins/trace, mode: off }\n")
        #expect(throws: SluiceError.self) { try policy.order(.http) }
        let tenant = Placed<PluginPlan?>(nil, placement: Placement("Tenant", after: ["other"]))
        let late = #expect(throws: SluiceError.self) { try policy.order(.http, beside: [tenant]) }
        #expect(late?.message.contains("but the band late is after the band default") == true)
        let fixed = try place.policy(
            small + "    order: { after: [trace, Tenant] }\n  trace: { path: plugins/trace, order: { priority: -1 } }\n"
        )
        let order = try fixed.order(.http, beside: [Placed(nil, placement: Placement("Tenant"))])
        #expect(order.map(\.name) == ["Tenant", "trace", "com.example.stock"])
        #expect(order[0].link == nil && order[2].link?.name == "com.example.stock")
        // In the chain of conflicts stands one plugin alone, and Tenant is not known there.
        #expect(throws: SluiceError.self) { try fixed.order(.conflict) }
        #expect(try fixed.order(.event).map(\.name) == ["trace"] && fixed.order(.schedule).isEmpty)
    }

    @Test("the narrower conflict handler is asked first, whatever the priority")
    func conflicts() throws {
        try place.add("all", #"{"hooks": {"on_conflict": {"priority": 9}}}"#)
        try place.add("exact", #"{"hooks": {"on_conflict": {"match": {"tables": "stock"}}}}"#)
        let policy = try place.policy(
            "plugins:\n  all: { path: plugins/all }\n  exact: { path: plugins/exact }\n")
        #expect(try policy.order(.conflict).map(\.name) == ["exact", "all"])
    }

    @Test("what the plugin is for in the chain of requests does not wait for the answer")
    func matches() throws {
        let plan = try #require(try place.policy(small).plans.first)
        #expect(plan.matches(in: .http) == [.all, .all] && plan.matches(in: .conflict).isEmpty)
    }

    @Test("a bundle runs without a policy as its manifest says, its configuration checked all the same")
    func alone() throws {
        let bundle = try PluginBundle(folder: place.folder.path + "/plugins/stock")
        let plan = try PluginPlan(bundle, config: ["n": 1], deployment: Deployment(labels: ["ring": "canary"]))
        #expect(plan.config == ["n": 1] && plan.hooks[.onConflict]?.match.isPossible == true)
        let message = #expect(throws: SluiceError.self) { try PluginPlan(bundle, config: ["n": "x"]) }?.message
        #expect(message == "config of com.example.stock /n: expected a whole number, found \"x\"")
    }

    @Test("a host that the configuration names is granted, where the manifest asks for the property")
    func hosts() throws {
        try place.add(
            "token",
            #"""
            {"permissions": {"http": ["{url}", "localhost:8080"]}, "config_schema": {"type": "object", "properties": {
             "url": {"type": "string", "format": "uri"}, "docs": {"type": "string", "format": "uri"}}}}
            """#)
        let yaml = "plugins: { token: { path: plugins/token, config: "
        let docs = "docs: \"https://docs.example.com\""
        let given = try place.policy(yaml + "{ url: \"https://Login.example.com:444/t?x\", \(docs) } } }")
        #expect(given.plans.first?.permissions.http == ["login.example.com:444", "localhost:8080"])
        let missing = try place.policy(yaml + "{ \(docs) } } }")
        #expect(missing.plans.first?.permissions.http == ["localhost:8080"])
    }

    @Test("a policy is read from its file, and paths are relative to it")
    func file() throws {
        let path = try place.folder.write(small, to: "plugins.yaml")
        #expect(try PluginPolicy(file: path).plans.count == 1)
        let message = #expect(throws: SluiceError.self) { try PluginPolicy(file: path + "x") }?.message
        #expect(message?.hasSuffix("plugins.yamlx: the file cannot be read: there is none") == true)
    }

    @Test("hostile YAML is refused: depth, aliases that multiply, ten thousand plugins")
    func bombs() {
        let config = small + "    config:\n      list: "
        let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        #expect(place.refusal(config + deep).contains("too many lists and mappings inside each other"))
        let deeper = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
        #expect(place.refusal(config + deeper).contains("plugins.yaml"))
        let laughs = (1...12).map { "\($0): &l\($0) [*l\($0 - 1), *l\($0 - 1), *l\($0 - 1), *l\($0 - 1)]" }
        let bomb = "\(small)    config: { a: &l0 [x], \(laughs.joined(separator: ", ")) }\n"
        #expect(place.refusal(bomb).contains("too many values"))
        let many = (0..<10_000).map { "  p\($0): { path: plugins/trace }\n" }.joined()
        #expect(place.refusal("plugins:\n" + many).contains("at most 256 plugins"))
    }

    @Test("limits of init bind the top level of main.lua, in a plugin without an init too")
    func topLevel() async throws {
        let main = "local sum = 0\nfor i = 1, 20000 do sum = sum + i end\nreturn { %@ }"
        let hooks = ["without": "on_event", "with": "init"]
        for (name, hook) in hooks {
            try place.add(name, #"{"hooks": {"\#(hook)": {}}}"#)
            let text = main.replacing("%@", with: "\(hook) = function() end")
            try place.folder.write(text, to: "plugins/\(name)/main.lua")
        }
        func plan(_ name: String, _ limits: String) throws -> PluginPlan {
            let yaml = "plugins: { x: { path: plugins/\(name), hooks: { init: { limits: { \(limits) } } } } }"
            return try #require(try place.policy(yaml).plans.first)
        }
        for name in hooks.keys {
            #expect(try plan(name, "fuel: 1000000").loadBudget.fuel == 1_000_000)
            _ = try await Plugins([try plan(name, "fuel: 1000000")])
            // Less than the host's own text takes.
            let error = await #expect(throws: SluiceError.self) { try await Plugins([try plan(name, "fuel: 1000")]) }
            #expect((error?.cause as? PluginFailure)?.kind == .fuel)
            #expect((error?.cause as? PluginFailure)?.file == "main.lua")
        }
        let refused = place.refusal(
            "plugins: { x: { path: plugins/without, hooks: { init: { limits: { fuel: 9000000 } } } } }")
        #expect(refused.contains("fuel of init must be a whole number from 1 to 2000000"))
    }
}
