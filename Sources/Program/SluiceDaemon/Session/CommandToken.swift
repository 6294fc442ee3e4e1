internal import Foundation
internal import Sluice
internal import SluiceSignOn
internal import Synchronization

/// The token printed by a program. The program runs once, and again when the server refuses the token.
///
/// The program is started directly, without a shell. Its output is the token, up to 64 KB; it has ten seconds.
package final class CommandToken: TokenProvider {
    private static let limit = Duration.seconds(10)
    private static let mostBytes = 65_536

    private let command: [String]
    private let kept = Mutex<String?>(nil)
    private let isStopped = Mutex(false)

    package init(command: [String]) { self.command = command }

    package func token() async throws -> String? {
        if let token = kept.withLock({ $0 }) { return token }
        return try await run()
    }

    package func refresh(refused: String?) async throws -> String? {
        let token = try await run()
        return token == refused ? nil : token
    }

    /// - Throws: ``SluiceError`` of code `unauthorized` for a program that is not there.
    func check() throws {
        guard let program = command.first, FileStatus(program)?.isFile == true, access(program, X_OK) == 0 else {
            throw failure("cannot be started")
        }
    }

    /// Ends a running program and starts none afterwards.
    func stop() { isStopped.withLock { $0 = true } }

    private func run() async throws -> String {
        let isCancelled = Mutex(false)
        let ended = await withTaskCancellationHandler {
            await ChildProgram(command).run(limit: Self.limit, mostBytes: Self.mostBytes) { [self] in
                isStopped.withLock { $0 } || isCancelled.withLock { $0 }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        switch ended {
        case .exited(0, let output): return try kept(output)
        case .exited(let status, _): throw failure("ended with \(status)")
        case .signalled: throw failure("was ended by a signal")
        case .notStarted: throw failure("cannot be started")
        case .late: throw failure("was ended, after ten seconds at the latest")
        case .tooLong: throw failure("prints more than 64 KB")
        case .stopped: throw SluiceError(.cancelled, "the token's program was ended with what had asked for it")
        }
    }

    private func kept(_ output: [UInt8]) throws -> String {
        let text = CredentialText.text(output)
        guard !text.isEmpty else { throw failure("printed nothing") }
        guard CredentialText.isUsable(text) else { throw failure("printed more than one line of text") }
        kept.withLock { $0 = text }
        return text
    }

    /// Returns an error that names the program without its arguments, because they may hold secrets.
    private func failure(_ reason: String) -> SluiceError {
        SluiceError(.unauthorized, "the token's program \(command.first ?? "") \(reason)")
    }
}

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
