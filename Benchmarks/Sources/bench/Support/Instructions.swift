internal import Glibc

/// Counts the instructions that a run of this program executes, on all its threads, by valgrind's callgrind.
struct Instructions {
    private let program: String
    private let output: String

    /// Nil where valgrind is not there.
    init?(directory: String) {
        guard (try? Program("valgrind", ["--version"], isQuiet: true).finish()) ?? nil != nil else { return nil }
        output = "\(directory)/callgrind.out"
        // Reading what debuggers want takes valgrind longer than the run does.
        let stripped = "\(directory)/bench-stripped"
        let strip = try? Program("strip", ["-g", "-o", stripped, "/proc/\(getpid())/exe"], isQuiet: true).finish()
        program = strip ?? nil == nil ? "/proc/\(getpid())/exe" : stripped
    }

    /// The instructions of `--child NAME COUNT WHAT` for each of its turns: the difference between many turns and few,
    /// so that the start counts for nothing.
    ///
    /// - Parameter functions: counts only while one of these runs, or what it calls; they do not call each other.
    func perTurn(_ name: String, _ what: String = "-", turns: Int, within functions: [String] = []) throws -> Double {
        let few = turns / 5
        let difference = try count([name, "\(turns)", what], functions) - count([name, "\(few)", what], functions)
        return Double(difference) / Double(turns - few)
    }

    private func count(_ arguments: [String], _ functions: [String]) throws -> Int {
        let options = ["-q", "--tool=callgrind", "--callgrind-out-file=\(output)"]
        let toggles = functions.map { "--toggle-collect=\($0)" }
        guard try Program("valgrind", options + toggles + [program, "--child"] + arguments).finish() != nil else {
            throw BenchFailure("\(arguments.joined(separator: " ")) failed under valgrind; its message is above")
        }
        let text = String(decoding: try File.read(output) ?? [], as: UTF8.self)
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("totals: ") }),
            let total = Int(line.dropFirst("totals: ".count))
        else { throw BenchFailure("callgrind has counted nothing") }
        return total
    }
}
