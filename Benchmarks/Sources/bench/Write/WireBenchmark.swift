/// How fast a push goes over sockets to the backend on this machine: each operation by itself, eight at a time, and by
/// batches; beside a C program that does the same by libcurl.
struct WireBenchmark {
    private static let width = 8
    let rows: Int
    let pairs: Int
    let directory: String

    func run() throws {
        say("wire: a push of \(rows) inserts to a server of its own process, one by one and by batches")
        let server = try Program.itself(["--child", "serve-backend", "\(directory)/server.db", "-"])
        defer { server.stop() }
        let address = "http://127.0.0.1:\(server.firstLine())"
        var runs: [String: [Measurement]] = [:]
        for pair in 1...pairs {
            for width in [Self.width, 0] {
                let names = ["push-wire", "push-wire-floor"]
                for name in pair.isMultiple(of: 2) ? names.reversed() : names {
                    let database = "\(directory)/\(name).db"
                    File.removeDatabase(database)
                    _ = try Child.measure(["inserts", "\(rows)", database])
                    let run = try Child.measure([name, "\(width),\(address)", database])
                    runs["\(name)-\(width)", default: []].append(run)
                }
            }
        }
        func rate(_ name: String, _ seconds: (Measurement) -> Double) -> Double {
            (runs[name] ?? []).map { Double(rows) / seconds($0) }.median
        }
        func figures(_ bench: String, _ width: Int) -> [Figure] {
            let (run, floor) = ("push-wire-\(width)", "push-wire-floor-\(width)")
            return [
                Figure(bench: bench, unit: "operations/s", value: rate(run, \.cpu), floor: rate(floor, \.cpu)),
                Figure(
                    bench: "\(bench)-wall", unit: "operations/s", value: rate(run, \.wall), floor: rate(floor, \.wall)),
            ]
        }
        let single = figures("wire", Self.width)
        let batches = figures("wire-batches", 0)
        Figure.tell(
            single + batches + [
                Figure(
                    bench: "wire-batches-beside-single", unit: "operations/s", value: batches[1].value,
                    floor: single[1].value)
            ])
    }
}
