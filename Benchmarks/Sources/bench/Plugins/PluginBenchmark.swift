/// What plugins cost: a pull with a hook on every row beside the same pull without, and the loading of twenty.
struct PluginBenchmark {
    let rows: Int
    let pairs: Int
    let directory: String
    private static let plugins = 20

    func run() throws {
        let pages = "\(directory)/plugin-pages"
        try File.makeDirectory(pages)
        _ = try PageFiles(directory: pages, rows: rows)
        say("plugins: a pull of \(rows) rows with a hook on each that reads three fields and writes one, and without")
        say("run     without: cpu s   with: cpu s   cpu ratio   loading \(Self.plugins): wall ms")
        var without: [Double] = []
        var with: [Double] = []
        var loading: [Double] = []
        for pair in 1...pairs {
            let order = pair.isMultiple(of: 2) ? ["plugins", "sluice"] : ["sluice", "plugins"]
            for name in order {
                let database = "\(directory)/\(name).db"
                File.removeDatabase(database)
                let result = try Child.measure(["--child", name, pages, database])
                if name == "plugins" { with.append(result.cpu) } else { without.append(result.cpu) }
            }
            loading.append(try Child.measure(["--child", "load", "\(Self.plugins)", ""]).wall * 1000)
            say(
                String(pair).right(3) + without[pair - 1].fixed(3).right(20) + with[pair - 1].fixed(3).right(14)
                    + (with[pair - 1] / without[pair - 1]).fixed(2).right(12) + loading[pair - 1].fixed(1).right(24))
        }
        say("")
        let figures = [
            Figure(
                bench: "plugin-page", unit: "us/1000 rows", value: with.median * 1e9 / Double(rows),
                floor: without.median * 1e9 / Double(rows)),
            // Against what is wanted: 20 ms.
            Figure(bench: "plugin-load", unit: "us", value: loading.median * 1000, floor: 20_000),
        ]
        for figure in figures { say(figure.line) }
    }
}
