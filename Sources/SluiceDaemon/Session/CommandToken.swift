internal import Foundation
internal import Sluice
internal import Synchronization

/// The token that a program prints: run once, and again when the server refuses the token.
///
/// The program is started directly, without a shell. Its output is the token, up to 64 KB; it has ten seconds.
package final class CommandToken: TokenProvider {
    private static let limit = Duration.seconds(10)
    private static let mostBytes = 65_536

    private let command: [String]
    private let kept = Mutex<String?>(nil)

    package init(command: [String]) { self.command = command }

    package func token() async throws -> String? {
        if let token = kept.withLock({ $0 }) { return token }
        return try await run()
    }

    package func refresh(refused: String?) async throws -> String? {
        let token = try await run()
        return token == refused ? nil : token
    }

    private func run() async throws -> String {
        guard let program = command.first else { throw failure("names no program") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = Array(command.dropFirst())
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, output)
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { throw failure("cannot be started") }
        let pid = process.processIdentifier
        let timer = Task {
            try await Task.sleep(for: Self.limit)
            kill(pid, SIGKILL)
        }
        defer { timer.cancel() }
        let data = await Self.read(output.fileHandleForReading)
        // A program that prints on and on is stopped by its pipe; it is not waited for.
        if data.count > Self.mostBytes { kill(pid, SIGKILL) }
        process.waitUntilExit()
        guard data.count <= Self.mostBytes else { throw failure("prints more than 64 KB") }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw failure(
                process.terminationReason == .exit
                    ? "ended with \(process.terminationStatus)" : "was ended, after ten seconds at the latest")
        }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw failure("printed nothing") }
        kept.withLock { $0 = text }
        return text
    }

    private static func read(_ handle: FileHandle) async -> Data {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                var data = Data()
                while data.count <= mostBytes, let piece = try? handle.read(upToCount: 4096), !piece.isEmpty {
                    data += piece
                }
                done.resume(returning: data)
            }
        }
    }

    /// What went wrong, with the program's name alone: its arguments may hold secrets.
    private func failure(_ reason: String) -> SluiceError {
        SluiceError(.unauthorized, "the token's program \(command.first ?? "") \(reason)")
    }
}
