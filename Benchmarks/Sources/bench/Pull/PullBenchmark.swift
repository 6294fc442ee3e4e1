/// How fast a table comes down: rows a second of a named pull into SQLite, beside a plain C program that stores the
/// same pages. The two take turns, so that a busy moment of the machine meets both.
struct PullBenchmark {
    let rows: Int
    let pairs: Int
    let directory: String

    func run() throws {
        let pages = "\(directory)/pages"
        try File.makeDirectory(pages)
        let files = try PageFiles(directory: pages, rows: rows)
        say("pull: \(rows) rows of 11 fields, \(files.bytesPerRow) bytes each, \(PageFiles.rowsPerPage) a page")
        say("run     sluice: cpu s   wall s   peak MB      C: cpu s   wall s   peak MB    cpu ratio   wall ratio")

        var sluice: [Measurement] = []
        var floor: [Measurement] = []
        for pair in 1...pairs {
            let databases = (sluice: "\(directory)/sluice.db", floor: "\(directory)/floor.db")
            File.removeDatabase(databases.sluice)
            File.removeDatabase(databases.floor)
            // Which goes first changes, for the second finds the disk's cache as the first has left it.
            let order = pair.isMultiple(of: 2) ? ["floor", "sluice"] : ["sluice", "floor"]
            for name in order {
                let database = name == "floor" ? databases.floor : databases.sluice
                let result = try Child.measure([name, pages, database])
                if name == "floor" { floor.append(result) } else { sluice.append(result) }
            }
            let stored = try PullRuns.compare(databases.sluice, databases.floor)
            guard stored == rows else { throw BenchFailure("\(stored) rows were stored, not \(rows)") }
            sayPair(pair, sluice[pair - 1], floor[pair - 1])
        }
        report(sluice, floor)
    }

    private func sayPair(_ pair: Int, _ sluice: Measurement, _ floor: Measurement) {
        func columns(_ run: Measurement) -> String {
            run.cpu.fixed(3).right(9) + run.wall.fixed(3).right(9) + (Double(run.peakKiB) / 1024).fixed(1).right(10)
        }
        say(
            String(pair).right(3) + columns(sluice).right(38) + columns(floor).right(34)
                + (floor.cpu / sluice.cpu).fixed(2).right(13) + (floor.wall / sluice.wall).fixed(2).right(13))
    }

    private func report(_ sluice: [Measurement], _ floor: [Measurement]) {
        let rows = Double(rows)
        func rate(_ runs: [Measurement], _ seconds: (Measurement) -> Double) -> Double {
            runs.map { rows / seconds($0) }.median
        }
        let cpu = (sluice: rate(sluice) { $0.cpu }, floor: rate(floor) { $0.cpu })
        let wall = (sluice: rate(sluice) { $0.wall }, floor: rate(floor) { $0.wall })
        let peak = (sluice: sluice.map(\.peakKiB).max() ?? 0, floor: floor.map(\.peakKiB).max() ?? 0)
        say("")
        say("median of \(sluice.count) runs each".left(40) + "sluice".right(12) + "C".right(12) + "ratio".right(10))
        func line(_ name: String, _ pair: (sluice: Double, floor: Double), digits: Int) {
            say(
                name.left(40) + pair.sluice.fixed(digits).right(12) + pair.floor.fixed(digits).right(12)
                    + (pair.sluice / pair.floor).fixed(2).right(10))
        }
        line("rows a second of processor time", cpu, digits: 0)
        line("rows a second of time that passed", wall, digits: 0)
        line("most memory of any run, MB", (Double(peak.sluice) / 1024, Double(peak.floor) / 1024), digits: 1)
        say("")
        let figures = [
            Figure(bench: "pull", unit: "rows/s", value: cpu.sluice, floor: cpu.floor),
            Figure(bench: "pull-wall", unit: "rows/s", value: wall.sluice, floor: wall.floor),
            Figure(
                bench: "pull-peak-memory", unit: "bytes", value: Double(peak.sluice * 1024),
                floor: Double(peak.floor * 1024)),
        ]
        for figure in figures { say(figure.line) }
    }
}
