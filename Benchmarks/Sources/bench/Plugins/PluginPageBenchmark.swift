/// A pull with a hook that reads three fields of every row and writes one, beside the same pull without: over a socket,
/// and from files.
struct PluginPageBenchmark {
    let rows: Int
    let pairs: Int
    let directory: String

    /// The processor time of the runs, in seconds.
    private struct Times {
        var without: [Double] = []
        var with: [Double] = []
    }

    func run(_ pages: String, _ server: WireServer) throws -> [Figure] {
        say("plugins: a pull of \(rows) rows with a hook on each that reads three fields and writes one, and without")
        say("run     over a socket: cpu s   with hook    ratio      from files: cpu s   with hook    ratio")
        var wire = Times()
        var files = Times()
        for pair in 1...pairs {
            try measure(pair, &wire) { server.pages(ofRun: "\($0)-\(pair)") }
            try measure(pair, &files) { _ in pages }
            say(
                String(pair).right(3) + Self.columns(wire, 27, pair) + Self.columns(files, 23, pair))
        }
        return [figure("plugin-page", wire), figure("plugin-page-files", files)]
    }

    private func measure(_ pair: Int, _ times: inout Times, from pages: (String) -> String) throws {
        for name in pair.isMultiple(of: 2) ? ["plugins", "sluice"] : ["sluice", "plugins"] {
            File.removeDatabase(database(name))
            let time = try Child.measure([name, pages(name), database(name)]).cpu
            if name == "plugins" { times.with.append(time) } else { times.without.append(time) }
        }
        if pair == 1 {
            _ = try Child.measure(["check", database("plugins"), database("sluice")])
        }
    }

    private func database(_ name: String) -> String { "\(directory)/\(name).db" }

    private static func columns(_ times: Times, _ width: Int, _ pair: Int) -> String {
        let (without, with) = (times.without[pair - 1], times.with[pair - 1])
        return without.fixed(3).right(width) + with.fixed(3).right(12) + (with / without).fixed(2).right(9)
    }

    private func figure(_ name: String, _ times: Times) -> Figure {
        Figure(
            bench: name, unit: "us/1000 rows", value: times.with.median * 1e9 / Double(rows),
            floor: times.without.median * 1e9 / Double(rows))
    }
}
