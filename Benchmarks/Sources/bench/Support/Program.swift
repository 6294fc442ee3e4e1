internal import Glibc

/// Another program as a process of its own.
struct Program {
    private let process: pid_t
    /// Where what it prints can be read.
    private let output: Int32

    /// Starts a program: by its path, or by its name if it is where programs are. What it says of errors comes out
    /// here, or nowhere.
    init(_ name: String, _ arguments: [String], isQuiet: Bool = false) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchFailure("no pipe to a child process") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])
        if isQuiet { posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) }
        // A child begins with the signals blocked that the thread has which starts it, and pgbench waits for one.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var texts: [UnsafeMutablePointer<CChar>?] = ([name] + arguments).map { strdup($0) } + [nil]
        defer { for text in texts { free(text) } }
        var child = pid_t()
        let code = posix_spawnp(&child, name, &actions, &attributes, &texts, environ)
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw BenchFailure("\(name) cannot be started: \(String(cString: strerror(code)))")
        }
        (process, output) = (child, ends[0])
    }

    /// This program once more.
    static func itself(_ arguments: [String]) throws -> Program { try Program("/proc/self/exe", arguments) }

    /// Waits for its first line.
    func firstLine() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Waits for its end, and returns what it has printed; nil where it has failed.
    func finish() -> String? {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(output, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
        close(output)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return status == 0 ? String(decoding: text, as: UTF8.self) : nil
    }

    /// The processor time that it has used so far, of all its threads, to a hundredth of a second.
    func processorSeconds() throws -> Double {
        let text = File.ofKernel("/proc/\(process)/stat")
        // Fields 14 and 15, of which the 2nd is the name in parentheses.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchFailure("the processor time of a child cannot be read")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Ends it at once.
    func stop() {
        kill(process, SIGKILL)
        _ = finish()
    }
}
