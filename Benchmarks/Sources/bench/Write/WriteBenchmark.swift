/// How fast an application writes: inserts, each with its queued operation, in one transaction and in one each, beside a
/// plain C program with two prepared statements. Then a push of all of them by batches, to a server that answers at once,
/// beside a C program with the same statements and documents.
struct WriteBenchmark {
    /// The part of the rows that is inserted one by one, and pushed once more for the memory that a small push takes.
    private static let fewer = 10
    let rows: Int
    let pairs: Int
    let directory: String

    func run() throws {
        say("write: \(rows) inserts, each with its queued operation; then one push")
        let few = max(1, rows / Self.fewer)
        var runs: [String: [Measurement]] = [:]
        func measure(_ name: String, _ count: Int, _ file: String) throws {
            runs[name, default: []].append(try Child.measure([name, "\(count)", "\(directory)/\(file).db"]))
        }
        for pair in 1...pairs {
            // Which goes first changes, for the second finds the disk's cache as the first has left it.
            func inTurns(_ sides: [() throws -> Void]) throws {
                for side in pair.isMultiple(of: 2) ? sides.reversed() : sides { try side() }
            }
            for file in ["write", "write-floor", "push-floor", "single", "single-floor", "few"] {
                File.removeDatabase("\(directory)/\(file).db")
            }
            try inTurns([
                { try measure("inserts", rows, "write") }, { try measure("write-floor", rows, "write-floor") },
            ])
            try inTurns([
                { try measure("single", few, "single") }, { try measure("single-floor", few, "single-floor") },
            ])
            // Both push a store that the engine has filled.
            _ = try Child.measure(["inserts", "\(rows)", "\(directory)/push-floor.db"])
            try inTurns([{ try measure("push", 0, "write") }, { try measure("push-floor", 0, "push-floor") }])
            _ = try Child.measure(["inserts", "\(few)", "\(directory)/few.db"])
            runs["push-few", default: []].append(try Child.measure(["push", "-", "\(directory)/few.db"]))
        }
        func rate(_ name: String, _ count: Int, _ seconds: (Measurement) -> Double) -> Double {
            (runs[name] ?? []).map { Double(count) / seconds($0) }.median
        }
        func figures(_ name: String, _ unit: String, _ count: Int, _ run: String, _ floor: String) -> [Figure] {
            [
                Figure(bench: name, unit: unit, value: rate(run, count, \.cpu), floor: rate(floor, count, \.cpu)),
                Figure(
                    bench: "\(name)-wall", unit: unit, value: rate(run, count, \.wall),
                    floor: rate(floor, count, \.wall)),
            ]
        }
        func peak(_ name: String) -> Double { Double((runs[name] ?? []).map(\.peakKiB).max() ?? 0) * 1024 }
        Figure.tell(
            figures("write", "inserts/s", rows, "inserts", "write-floor")
                + figures("single", "inserts/s", few, "single", "single-floor")
                + figures("push", "operations/s", rows, "push", "push-floor") + [
                    Figure(bench: "push-peak-memory", unit: "bytes", value: peak("push"), floor: peak("push-few"))
                ])
    }
}
