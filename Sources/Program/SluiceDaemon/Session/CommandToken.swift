internal import Foundation
internal import Sluice
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
        kept.withLock { $0 = text }
        return text
    }

    /// Returns an error that names the program without its arguments, because they may hold secrets.
    private func failure(_ reason: String) -> SluiceError {
        SluiceError(.unauthorized, "the token's program \(command.first ?? "") \(reason)")
    }
}
