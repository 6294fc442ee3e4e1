import CJansson
import CLuaSandbox
import Glibc

/// A VM with a small prelude, as tests use it: by texts.
final class Sandbox {
    /// How a call went.
    struct Answer {
        var outcome: sluice_outcome
        /// JSON text; nil for nothing.
        var result: String?
        var className: String?
        var error: String?
        /// The first argument afterwards, where the script wrote to it.
        var changed: String?
        var fuel: Int64
        /// CPU time of the thread from the call to its end.
        var milliseconds: Double
        /// CPU time of the call as the sandbox counts it.
        var countedMilliseconds = 0.0
    }

    struct Failure: Error, CustomStringConvertible {
        var outcome: sluice_outcome
        var description: String
    }

    static let prelude = """
        local p, env = ...
        p.class("request", {
          methods = { get = p.get, set = p.set, names = p.names, to_table = p.to_table, raw = p.raw,
            changed = p.is_changed },
          getters = { headers = function(r) return p.child(r, "headers", "headers") end,
            inner = function(r) return p.child(r, "inner", "request") end },
          writable = true, readonly = { "id" },
        })
        p.class("seen", { writable = { "note" }, call = function(o, x) return p.host("echo", x) end })
        local function host(name) return function(...) return p.host(name, ...) end end
        return {
          json = { encode = p.json_encode, decode = p.json_decode, null = p.null, array = p.array,
            object = function(t) return p.object(t) end },
          new = function(t) return p.object("request", t) end,
          wait = host "wait", echo = host "echo", refuse = host "refuse", deny = host "deny",
          fail = p.fail, freeze = p.freeze, fuel_left = p.fuel_left, config = env and env.config,
        }
        """

    /// The fuel of a hook, and no clock: what a test shows must not depend on how fast the machine is just then.
    static let budget = sluice_budget(fuel: 1_000_000, burst_nanoseconds: 0, cpu_nanoseconds: 0, may_wait: true)

    let vm: OpaquePointer
    private(set) var hooks = ""
    private var ids: UInt64 = 0

    /// - Parameter failAt: the allocation that fails, from 1; 0 for none.
    init?(limits: sluice_limits = sluice_limits_default(), failAt: UInt64 = 0) {
        let host = sluice_host(context: nil) { _, _, name, arguments, result in
            switch name.map({ String(cString: $0) }) {
            case "echo":
                let values = arguments?.assumingMemoryBound(to: json_t.self)
                result?.pointee = json_array_get(values, 0).flatMap { UnsafeMutableRawPointer(sluice_json_retain($0)) }
                return SLUICE_HOST_VALUE
            case "wait": return SLUICE_HOST_WAIT
            case "deny":
                result?.pointee = UnsafeMutableRawPointer(json_string("not allowed"))
                return SLUICE_HOST_DENIED
            default:
                result?.pointee = UnsafeMutableRawPointer(json_string("refused"))
                return SLUICE_HOST_ERROR
            }
        }
        guard let vm = sluice_vm_new(limits, host, failAt) else { return nil }
        self.vm = vm
    }

    /// Loads a plugin.
    func load(
        _ main: String, modules: [String: String] = [:], config: String = "{}", budget: sluice_budget = Sandbox.budget
    ) throws {
        var hooks: UnsafeMutableRawPointer?
        var message: UnsafeMutableRawPointer?
        let environment = Value("{\"config\":\(config)}")
        let outcome = Self.withSources([("main", main)] + modules.map { ($0.key, $0.value) }) { sources in
            Self.withSources([("prelude", Self.prelude)]) { prelude in
                sluice_vm_load(
                    vm, prelude[0], sources.baseAddress, sources.count, environment.pointer, budget, &hooks, &message)
            }
        }
        withExtendedLifetime(environment) {}
        let names = text(of: hooks)
        let error = text(of: message)
        guard outcome == SLUICE_DONE else { throw Failure(outcome: outcome, description: error ?? "") }
        self.hooks = names ?? ""
    }

    private static func withSources<Result>(
        _ texts: [(name: String, text: String)], _ body: (UnsafeBufferPointer<sluice_source>) -> Result
    ) -> Result {
        let copies = texts.map { (strdup($0.name), strdup($0.text), $0.text.utf8.count) }
        defer {
            for copy in copies {
                free(copy.0)
                free(copy.1)
            }
        }
        return copies.map { sluice_source(name: $0.0, text: $0.1, length: $0.2, file: nil) }.withUnsafeBufferPointer(
            body)
    }

    /// Calls a hook with an object of a class, and answers its waits with `replies` in their order.
    func call(
        _ hook: String, _ argument: String? = nil, as className: String? = "request", replies: [String] = [],
        budget: sluice_budget = Sandbox.budget
    ) -> Answer {
        let started = Self.threadTime
        let value = argument.map(Value.init)
        var call: OpaquePointer?
        ids += 1
        let name = className.map { strdup($0) } ?? nil
        defer { free(name) }
        var outcome: sluice_outcome
        if let value {
            var given = sluice_argument(class_name: name, value: value.pointer, reader: nil)
            outcome = sluice_vm_call(vm, hook, &given, 1, budget, ids, &call)
        } else {
            outcome = sluice_vm_call(vm, hook, nil, 0, budget, ids, &call)
        }
        var rest = replies[...]
        while outcome == SLUICE_WAITS, let reply = rest.popFirst() {
            let answer = Value(reply)
            outcome = withExtendedLifetime(answer) { sluice_call_resume(call, SLUICE_HOST_VALUE, answer.pointer) }
        }
        return withExtendedLifetime(value) { Self.finish(call, outcome, started) }
    }

    /// What is to be known of a call, which is ended.
    private static func finish(_ call: OpaquePointer?, _ outcome: sluice_outcome, _ started: Double) -> Answer {
        guard let call else { return Answer(outcome: outcome, fuel: 0, milliseconds: 0) }
        var className: UnsafePointer<CChar>?
        var isChanged = false
        let result = text(of: sluice_call_result(call, &className))
        let argument = sluice_call_argument(call, 0, &isChanged)
        let answer = Answer(
            outcome: outcome, result: result, className: className.map { String(cString: $0) },
            error: text(of: sluice_call_error(call)), changed: isChanged ? text(borrowed: argument) : nil,
            fuel: sluice_call_fuel_used(call), milliseconds: 0,
            countedMilliseconds: Double(sluice_call_cpu_nanoseconds(call)) / 1e6)
        sluice_call_end(call)
        var timed = answer
        timed.milliseconds = threadTime - started
        return timed
    }

    /// CPU time of this thread, in milliseconds.
    static var threadTime: Double {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return Double(now.tv_sec) * 1e3 + Double(now.tv_nsec) / 1e6
    }

    deinit { sluice_vm_free(vm) }
}

extension Sandbox {
    /// A VM with a plugin in it.
    static func with(
        _ main: String, modules: [String: String] = [:], config: String = "{}",
        limits: sluice_limits = sluice_limits_default(), budget: sluice_budget = Sandbox.budget
    ) throws -> Sandbox {
        guard let sandbox = Sandbox(limits: limits) else {
            throw Failure(outcome: SLUICE_FAILED_MEMORY, description: "no VM")
        }
        try sandbox.load(main, modules: modules, config: config, budget: budget)
        return sandbox
    }

    /// Runs the body of a function and answers with what it returns.
    static func run(_ body: String, limits: sluice_limits = sluice_limits_default()) throws -> Answer {
        try with("return { run = function()\n\(body)\nend }", limits: limits).call("run")
    }
}
