internal import Glibc

/// The backend on PostgreSQL with one, two and four processes: pages of a hundred changes and inserts, beside a plain C
/// program that sends the same SQL over libpq and writes the same JSON, and beside pgbench.
///
/// It needs a server of its own, as `.ci/postgres` starts one.
struct PostgresBenchmark {
    /// The server's URL, where there is one.
    static var server: String? { getenv("SLUICE_TEST_POSTGRES").map { String(cString: $0) } }

    let pairs: Int
    let server: String
    private static let width = 8

    func run() throws {
        say("")
        say("backend on PostgreSQL: requests over sockets, \(Self.width) at a time; a page has 100 changes")
        say(
            "processes".left(30) + "a second".right(12) + "/cpu s".right(12) + "database ms".right(12)
                + "of C".right(10))
        var database: [BackendRuns.Request: Double] = [:]
        for processes in [1, 2, 4] {
            let servers = try (0..<processes).map { _ in try Program.itself(["--child", "serve-backend", server, "-"]) }
            defer { for server in servers { server.stop() } }
            let ports = servers.map { $0.firstLine() }
            guard ports.allSatisfy({ Int($0) != nil }) else { throw BenchFailure("a backend did not start") }
            let addresses = ports.map { "http://127.0.0.1:\($0)" }.joined(separator: ",")
            for (request, count) in [(BackendRuns.Request.changes, 2_000), (.insert, 2_000)] {
                let result = try measure(request, count, addresses, servers)
                database[request] = result.database
                let name = "\(request.rawValue), \(processes) process\(processes > 1 ? "es" : "")"
                say(
                    name.left(30) + result.wall.fixed(0).right(12) + result.cpu.fixed(0).right(12)
                        + (result.database * 1000).fixed(3).right(12) + (result.wall / result.floor).fixed(2).right(10))
                say(
                    Figure(
                        bench: "postgres-\(request.rawValue)-\(processes)", unit: "1/s", value: result.wall,
                        floor: result.floor
                    ).line)
            }
        }
        try pgbench()
    }

    private struct Result {
        /// Requests for a second that passed, and for a second of the servers' processor time.
        var wall: Double
        var cpu: Double
        /// The C program's for a second that passed.
        var floor: Double
        /// Seconds of the database's processor time for a request.
        var database: Double
    }

    private func measure(
        _ request: BackendRuns.Request, _ count: Int, _ addresses: String, _ servers: [Program]
    ) throws -> Result {
        var (wall, cpu, floor, database): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        let requests = Double(count)
        for _ in 1...pairs {
            let (before, idle) = (
                try servers.map { try $0.processorSeconds() }.reduce(0, +), try Self.databaseSeconds()
            )
            let run = try Child.measure(["ask-\(request.rawValue)", "\(count)", addresses])
            wall.append(requests / run.wall)
            cpu.append(requests / (try servers.map { try $0.processorSeconds() }.reduce(0, +) - before))
            database.append((try Self.databaseSeconds() - idle) / requests)
            let name = request == .insert ? "floor-postgres-insert" : "floor-postgres-changes"
            floor.append(requests / (try Child.measure([name, "\(count)", server]).wall))
        }
        return Result(wall: wall.median, cpu: cpu.median, floor: floor.median, database: database.median)
    }

    /// The processor time that the database's processes have used so far, those that have ended too.
    private static func databaseSeconds() throws -> Double {
        guard let folder = getenv("SLUICE_TEST_POSTGRES_FOLDER").map({ String(cString: $0) }),
            let main = File.ofKernel("\(folder)/data/postmaster.pid").split(separator: "\n").first
        else { throw BenchFailure("the folder of the database is not known") }
        var ticks = 0.0
        let children = File.ofKernel("/proc/\(main)/task/\(main)/children").split(whereSeparator: \.isWhitespace)
        for process in [main] + children {
            let text = File.ofKernel("/proc/\(process)/stat")
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 14 else { continue }
            // Fields 14 and 15; of the first process also 16 and 17, of its children that have ended.
            ticks += (11...(process == main ? 14 : 12)).compactMap { Double(fields[$0]) }.reduce(0, +)
        }
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// What the server does by itself: pgbench's own transactions, with as many connections.
    private func pgbench() throws {
        guard try Program("pgbench", ["-i", "-q", server], isQuiet: true).finish() != nil else {
            throw BenchFailure("pgbench cannot fill its tables")
        }
        for (name, options) in [("its transactions (TPC-B)", []), ("one row by its key (-S)", ["-S"])] {
            let arguments = ["-n", "-M", "prepared", "-c", "\(Self.width)", "-T", "5"] + options + [server]
            let text = try Program("pgbench", arguments, isQuiet: true).finish() ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix("tps = ") } ?? "no figure"
            say("pgbench, \(name): \(line)")
        }
    }
}
