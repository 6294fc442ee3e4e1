/// What the C interface costs: point reads and inserts through `libsluice`, beside the same calls from Swift. They take
/// turns.
struct ABIBenchmark {
    let pairs: Int
    let directory: String
    private let reads = 50_000
    private let inserts = 3_000

    func run() async throws {
        say("abi: \(reads) point reads of \(ABIRuns.rows) records, and \(inserts) inserts, through C and from Swift")
        let filled = "\(directory)/abi.db"
        try await ABIRuns.fill(filled)
        var runs: [String: [Measurement]] = [:]
        for pair in 1...pairs {
            let sides = ["abi", "swift"]
            for side in pair.isMultiple(of: 2) ? sides.reversed() : sides {
                runs["\(side)-reads", default: []].append(try measure(side, "reads", reads, filled))
                let fresh = "\(directory)/\(side)-\(pair).db"
                runs["\(side)-inserts", default: []].append(try measure(side, "inserts", inserts, fresh))
                File.removeDatabase(fresh)
            }
        }
        say("median of \(pairs) runs each".left(40) + "C".right(12) + "Swift".right(12) + "ratio".right(10))
        var figures: [Figure] = []
        for (name, count) in [("reads", reads), ("inserts", inserts)] {
            figures.append(figure("abi-\(name)-wall", runs, name, count, \.wall))
            figures.append(figure("abi-\(name)", runs, name, count, \.cpu))
        }
        Figure.tell(figures, in: "nanoseconds a call")
    }

    private func measure(_ side: String, _ what: String, _ count: Int, _ database: String) throws -> Measurement {
        if side == "swift" { return try Child.measure(["swift-\(what)", "\(count)", database]) }
        let text = try Program("\(File.here)/abi", [what, "\(count)", database]).finish()
        guard let line = text?.split(separator: "\n").last, let measurement = Measurement(line: line) else {
            throw BenchFailure("the program abi failed; swift build -c release --product abi builds it")
        }
        return measurement
    }

    private func figure(
        _ name: String, _ runs: [String: [Measurement]], _ what: String, _ count: Int,
        _ seconds: (Measurement) -> Double
    ) -> Figure {
        func median(_ side: String) -> Double {
            (runs["\(side)-\(what)"] ?? []).map(seconds).median / Double(count) * 1e9
        }
        return Figure(bench: name, unit: "ns/call", value: median("abi"), floor: median("swift"))
    }
}
