/// How many requests a client gets through real sockets with one Lua filter around each, beside the same client
/// without.
struct PluginWireBenchmark {
    let pairs: Int
    private static let requests = 4000

    func run(_ server: WireServer) throws -> [Figure] {
        say("")
        say("plugins: \(Self.requests) requests over sockets, 8 at a time, with a Lua filter around each, and without")
        say("run     without: 1/s    cpu us      with: 1/s    cpu us    ratio of 1/s    of cpu")
        var without: [Measurement] = []
        var with: [Measurement] = []
        // Time that passes hangs on more than processor time does.
        let pairs = max(pairs, 7)
        for pair in 1...pairs {
            for name in pair.isMultiple(of: 2) ? ["send-plugin", "send"] : ["send", "send-plugin"] {
                let result = try Child.measure([name, "\(Self.requests)", server.fixed])
                if name == "send" { without.append(result) } else { with.append(result) }
            }
            let (one, other) = (without[pair - 1], with[pair - 1])
            say(
                String(pair).right(3) + Self.rate(one).fixed(0).right(16) + Self.cost(one).fixed(0).right(10)
                    + Self.rate(other).fixed(0).right(15) + Self.cost(other).fixed(0).right(10)
                    + (Self.rate(other) / Self.rate(one)).fixed(2).right(16)
                    + (Self.cost(one) / Self.cost(other)).fixed(2).right(10))
        }
        return [
            Figure(
                bench: "plugin-throughput", unit: "1/s", value: with.map(Self.rate).median,
                floor: without.map(Self.rate).median),
            // Upside down, so that both ratios are of the requests that a second of it is good for.
            Figure(
                bench: "plugin-throughput-cpu", unit: "1/cpu s", value: 1e6 / with.map(Self.cost).median,
                floor: 1e6 / without.map(Self.cost).median),
        ]
    }

    private static func rate(_ run: Measurement) -> Double { Double(requests) / run.wall }
    /// Microseconds of processor time for one request.
    private static func cost(_ run: Measurement) -> Double { run.cpu * 1e6 / Double(requests) }
}
