/// How fast an application writes: inserts in one local transaction, each with its queued operation, beside a plain C
/// program with two prepared statements; then a push of all of them by batches, to a server that answers at once.
struct WriteBenchmark {
    let rows: Int
    let pairs: Int
    let directory: String

    func run() throws {
        say("write: \(rows) inserts in one transaction, each with its queued operation; then one push")
        var runs: [String: [Measurement]] = [:]
        for pair in 1...pairs {
            let databases = (sluice: "\(directory)/write.db", floor: "\(directory)/write-floor.db")
            File.removeDatabase(databases.sluice)
            File.removeDatabase(databases.floor)
            let sides = [("inserts", databases.sluice), ("write-floor", databases.floor)]
            // Which goes first changes, for the second finds the disk's cache as the first has left it.
            for (name, database) in pair.isMultiple(of: 2) ? sides.reversed() : sides {
                runs[name, default: []].append(try Child.measure([name, "\(rows)", database]))
            }
            runs["push", default: []].append(try Child.measure(["push", "-", databases.sluice]))
        }
        func rate(_ name: String, _ seconds: (Measurement) -> Double) -> Double {
            (runs[name] ?? []).map { Double(rows) / seconds($0) }.median
        }
        func peak(_ name: String) -> Double { Double((runs[name] ?? []).map(\.peakKiB).max() ?? 0) * 1024 }
        let figures = [
            Figure(bench: "write", unit: "inserts/s", value: rate("inserts", \.cpu), floor: rate("write-floor", \.cpu)),
            Figure(
                bench: "write-wall", unit: "inserts/s", value: rate("inserts", \.wall),
                floor: rate("write-floor", \.wall)),
            Figure(bench: "push", unit: "operations/s", value: rate("push", \.cpu), floor: 5_000),
            Figure(bench: "push-wall", unit: "operations/s", value: rate("push", \.wall), floor: 5_000),
            Figure(bench: "push-peak-memory", unit: "bytes", value: peak("push"), floor: 80_000_000),
        ]
        Figure.tell(figures)
    }
}
