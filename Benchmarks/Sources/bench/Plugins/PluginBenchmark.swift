/// What plugins cost: in a pull, around an exchange, where none is meant, and when they are loaded.
struct PluginBenchmark {
    let rows: Int
    let pairs: Int
    let directory: String

    func run() throws {
        let pages = "\(directory)/plugin-pages"
        try File.makeDirectory(pages)
        _ = try PageFiles(directory: pages, rows: rows)
        let server = try WireServer(pages: pages)
        defer { server.stop() }
        var figures = try PluginPageBenchmark(rows: rows, pairs: pairs, directory: directory).run(pages, server)
        figures += try PluginWireBenchmark(pairs: pairs).run(server)
        figures += try PluginCallBenchmark(directory: directory).run()
        figures.append(try load())
        say("")
        for figure in figures { say(figure.line) }
    }

    /// The loading of twenty plugins, against what is wanted: 20 ms.
    private func load() throws -> Figure {
        let count = 20
        let times = try (0..<pairs).map { _ in try Child.measure(["load", "\(count)", "-"]).wall * 1000 }
        say("")
        say("loading \(count) plugins: \(times.map { $0.fixed(1) }.joined(separator: ", ")) ms")
        return Figure(bench: "plugin-load", unit: "us", value: times.median * 1000, floor: 20_000)
    }
}
