/// What the backend costs its own process: pages of a hundred rows and single rows, beside a plain C program that steps
/// the same statement and writes the JSON by hand, without a socket.
struct BackendBenchmark {
    let pairs: Int
    let directory: String

    func run() throws {
        let database = "\(directory)/backend.db"
        let server = try Program.itself(["--child", "serve-backend", database, "-"])
        defer { server.stop() }
        guard let port = Int(server.firstLine()) else { throw BenchFailure("the backend did not start") }
        let address = "http://127.0.0.1:\(port)"
        say("backend: requests over sockets, 8 at a time, by the processor time of the server")
        var figures: [Figure] = []
        for (request, count) in [(BackendRuns.Request.list, 4_000), (.record, 16_000), (.insert, 2_000)] {
            var served: [(cpu: Double, wall: Double)] = []
            var floor: [Double] = []
            for _ in 1...pairs {
                let before = try server.processorSeconds()
                let run = try Child.measure(["ask-\(request.rawValue)", "\(count)", address])
                served.append((try server.processorSeconds() - before, run.wall))
                if request != .insert {
                    floor.append(try Child.measure(["floor-\(request.rawValue)", "\(count)", database]).cpu)
                }
            }
            let rate = served.map { Double(count) / $0.cpu }.median
            // Of an insert there is no floor here: `write` has one, without a server.
            if !floor.isEmpty {
                figures.append(
                    Figure(
                        bench: "backend-\(request.rawValue)", unit: "1/cpu s", value: rate,
                        floor: floor.map { Double(count) / $0 }.median))
            }
            let wall = served.map { Double(count) / $0.wall }.median
            say("\(request.rawValue), requests a second that passed".left(44) + wall.fixed(0).right(8))
            say("\(request.rawValue), requests a second of the server".left(44) + rate.fixed(0).right(8))
        }
        Figure.tell(figures)
    }
}
