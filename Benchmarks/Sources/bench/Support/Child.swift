internal import Glibc

/// This program once more, as a process of its own: so that one run leaves nothing behind for the next, and peak memory
/// is that of one run.
enum Child {
    /// Runs the program with those arguments and reads the measurement that it prints.
    static func measure(_ arguments: [String]) throws -> Measurement {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchFailure("no pipe to a child process") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])

        var texts: [UnsafeMutablePointer<CChar>?] = (["bench"] + arguments).map { strdup($0) } + [nil]
        defer { for text in texts { free(text) } }
        var child = pid_t()
        let code = posix_spawn(&child, "/proc/self/exe", &actions, nil, &texts, environ)
        close(ends[1])
        defer { close(ends[0]) }
        guard code == 0 else { throw BenchFailure("no child process: \(String(cString: strerror(code)))") }

        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(ends[0], &buffer, buffer.count), count > 0 { output += buffer[..<count] }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0, let line = text.split(separator: "\n").last, let result = Measurement(line: line) else {
            throw BenchFailure("\(arguments.joined(separator: " ")) failed; its message is above")
        }
        return result
    }
}
