internal import Glibc

/// `bench [--only pull|plugins] [--rows N] [--pairs N] [--directory DIR] [--keep]`
@main
enum Bench {
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "--child" {
                try await child(arguments)
            } else {
                try run(try Options(arguments))
            }
        } catch {
            File.complain("bench: \(error)")
            exit(1)
        }
    }

    private static func run(_ options: Options) throws {
        let directory = try File.temporaryDirectory(in: options.directory)
        defer { if !options.keep { File.removeDirectory(directory) } }
        if options.only == nil || options.only == "pull" {
            try PullBenchmark(rows: options.rows, pairs: options.pairs, directory: directory).run()
        }
        if options.only == nil || options.only == "plugins" {
            try PluginBenchmark(rows: options.rows, pairs: options.pairs, directory: directory).run()
        }
        if options.keep { print("kept: \(directory)") }
    }

    /// One measured run: `--child sluice|floor|plugins PAGES DATABASE`, or `--child load COUNT -`.
    private static func child(_ arguments: [String]) async throws {
        guard arguments.count == 4 else { throw BenchFailure("--child is for the benchmark itself") }
        let (pages, database) = (arguments[2], arguments[3])
        let measurement = try await Measurement.of {
            switch arguments[1] {
            case "floor": try PullRuns.floor(pages: pages, database: database)
            case "plugins": try await PluginRuns.pull(pages: pages, database: database)
            case "load": try await PluginRuns.load(Int(pages) ?? 0)
            default: try await PullRuns.sluice(pages: pages, database: database)
            }
        }
        print(measurement.line)
    }
}
