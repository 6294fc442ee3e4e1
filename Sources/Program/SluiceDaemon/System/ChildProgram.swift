internal import Foundation
internal import Sluice

/// A program that is run for its output. It has its own process group, so that its children end with it. Its signal
/// mask is reset, because threads of this process block most signals.
struct ChildProgram: Sendable {
    /// The end of a program.
    enum End: Sendable {
        /// The program exited: its status and its output.
        case exited(Int32, [UInt8])
        /// Another process ended it with a signal.
        case signalled
        case notStarted
        /// It was killed because it took too long, printed too much, or was no longer wanted.
        case late, tooLong, stopped
    }

    /// The time between two looks whether the program is still wanted.
    private static let interval: Int32 = 20

    private let command: [String]

    init(_ command: [String]) { self.command = command }

    /// Runs the program on a thread of its own, and waits for its end.
    func run(limit: Duration, mostBytes: Int, isStopped: @escaping @Sendable () -> Bool) async -> End {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                done.resume(returning: wait(ContinuousClock.now + limit, mostBytes, isStopped))
            }
        }
    }

    private func wait(_ end: ContinuousClock.Instant, _ mostBytes: Int, _ isStopped: () -> Bool) -> End {
        guard !isStopped(), let (process, output) = spawn() else { return isStopped() ? .stopped : .notStarted }
        defer { close(output) }
        var bytes: [UInt8] = []
        var status: Int32 = 0
        var isOpen = true
        while true {
            var reading = pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0)
            let isReady = poll(&reading, 1, Self.interval) > 0
            if isReady {
                var piece = [UInt8](repeating: 0, count: 4096)
                let count = read(output, &piece, piece.count)
                if count > 0 { bytes += piece[..<count] }
                isOpen = count > 0
            }
            // Children of an ended program may keep its output open; they are not waited for.
            if !isReady || !isOpen, waitpid(process, &status, WNOHANG) == process { return Self.end(status, bytes) }
            let fault: End? =
                if bytes.count > mostBytes { .tooLong } else if isStopped() {
                    .stopped
                } else { ContinuousClock.now >= end ? .late : nil }
            guard let fault else { continue }
            kill(-process, SIGKILL)
            _ = SystemCall.repeated { waitpid(process, &status, 0) }
            return fault
        }
    }

    private static func end(_ status: Int32, _ bytes: [UInt8]) -> End {
        // As WIFEXITED and WEXITSTATUS, which are macros.
        status & 0x7F == 0 ? .exited(status >> 8 & 0xFF, bytes) : .signalled
    }

    /// Starts the program with an empty input, and discards its error output.
    private func spawn() -> (process: pid_t, output: Int32)? {
        guard let program = command.first else { return nil }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let arguments = command.map { strdup($0) } + [nil]
        let environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var process: pid_t = 0
        guard posix_spawn(&process, program, &files, &attributes, arguments, environment) == 0 else {
            close(ends[0])
            return nil
        }
        return (process, ends[0])
    }
}
