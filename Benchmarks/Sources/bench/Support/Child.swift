/// This program once more, as a process of its own: so that one run leaves nothing behind for the next, and peak memory
/// is that of one run.
enum Child {
    /// Runs the program with those arguments and reads the measurement that it prints.
    static func measure(_ arguments: [String]) throws -> Measurement {
        let text = try Program.itself(["--child"] + arguments).finish()
        guard let line = text?.split(separator: "\n").last, let result = Measurement(line: line) else {
            throw BenchFailure("\(arguments.joined(separator: " ")) failed; its message is above")
        }
        return result
    }
}
