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
        figures += try load()
        say("")
        for figure in figures { say(figure.line) }
    }

    /// The loading of twenty plugins, against what is wanted: 20 ms. On a busy machine the processor time is the one to
    /// trust.
    private func load() throws -> [Figure] {
        let runs = try (0..<pairs).map { _ in try Child.measure(["load", "20", "-"]) }
        let (wall, cpu) = (runs.map { $0.wall * 1000 }, runs.map { $0.cpu * 1000 })
        say("")
        say("loading 20 plugins: \(wall.map { $0.fixed(1) }.joined(separator: ", ")) ms that passed")
        say("                    \(cpu.map { $0.fixed(1) }.joined(separator: ", ")) ms of processor time")
        return [
            Figure(bench: "plugin-load", unit: "us", value: wall.median * 1000, floor: 20_000),
            Figure(bench: "plugin-load-cpu", unit: "us", value: cpu.median * 1000, floor: 20_000),
        ]
    }
}
