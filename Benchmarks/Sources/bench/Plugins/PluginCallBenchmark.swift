/// What single calls cost, in instructions: a call of a hook beside the same call straight through `lua_pcall`, and a
/// request that passes plugins of which none is meant for it, beside one without plugins.
struct PluginCallBenchmark {
    let directory: String

    /// What is the sandbox's in a call of a hook: from the request's document to what the script has made of it.
    private static let sandbox = [
        "sluice_vm_call", "sluice_call_result", "sluice_call_argument", "sluice_call_end", "sluice_call_fuel_used",
        "sluice_call_cpu_nanoseconds",
    ]

    func run() throws -> [Figure] {
        say("")
        guard let count = Instructions(directory: directory) else {
            say("plugins: instructions are not counted, for valgrind is not installed")
            return []
        }
        say("plugins: instructions, by valgrind")
        let floor = try count.perTurn("lua-floor", turns: 10_000, within: ["cfloor_request"])
        let hook = try count.perTurn("exchange", "header", turns: 1000, within: Self.sandbox)
        let without = try count.perTurn("exchange", "none", turns: 1000)
        let with = try count.perTurn("exchange", "header", turns: 1000)
        let unmatched = try count.perTurn("exchange", "unmatched", turns: 1000)
        say("a hook that reads three fields and sets one header, in the sandbox      \(hook.fixed(0).right(9))")
        say("the same straight through lua_pcall                                     \(floor.fixed(0).right(9))")
        say("a request and its answer without plugins                                \(without.fixed(0).right(9))")
        say("with 20 plugins of which none is meant                                  \(unmatched.fixed(0).right(9))")
        say("with that hook: its documents, the way to its thread and back, the hook \(with.fixed(0).right(9))")
        return [
            Figure(bench: "plugin-request", unit: "instructions", value: hook, floor: floor),
            Figure(bench: "plugin-request-whole", unit: "instructions", value: with - without, floor: floor),
            Figure(bench: "plugin-none-matches", unit: "instructions", value: unmatched, floor: without),
        ]
    }
}
