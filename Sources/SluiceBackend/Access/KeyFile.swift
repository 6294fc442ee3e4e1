internal import Foundation
internal import Logging
internal import SluiceCore
internal import Synchronization

/// A file with a JWK set, which is read again when it has changed.
final class KeyFile: Sendable {
    /// What changes of a file when somebody writes to it, or puts another in its place.
    private struct State: Equatable {
        private let number: [Int64]

        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            number = [
                Int64(facts.st_size), Int64(facts.st_mtim.tv_sec), Int64(facts.st_mtim.tv_nsec),
                Int64(facts.st_ctim.tv_sec), Int64(facts.st_ctim.tv_nsec), Int64(truncatingIfNeeded: facts.st_ino),
            ]
        }
    }

    private struct Known {
        var state: State?
        var keys: [TokenKeys.Key]
    }

    private let path: String
    private let known: Mutex<Known>

    /// Reads the file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names it.
    init(_ path: String) async throws(SluiceError) {
        self.path = path
        let state = State(path)
        known = Mutex(Known(state: state, keys: try await Self.read(path)))
    }

    /// The keys, as the file has them now. Where what it has become is no JWK set, or where it is gone, those stay that it
    /// had before, and the log says why.
    func keys() async -> [TokenKeys.Key] {
        // Looked at before it is read: a change in between is seen the next time.
        let state = State(path)
        let (last, isSame) = known.withLock { ($0.keys, $0.state == state) }
        guard !isSame else { return last }
        do {
            let keys = try await Self.read(path)
            known.withLock { $0 = Known(state: state, keys: keys) }
            return keys
        } catch {
            let isFirst = known.withLock { known in
                defer { known.state = state }
                return known.state != state
            }
            if isFirst {
                Logger(label: "sluice.backend").warning("the keys for tokens stay as they were: \(error.message)")
            }
            return last
        }
    }

    private static func read(_ path: String) async throws(SluiceError) -> [TokenKeys.Key] {
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: TokenKeys.mostBytes + 1)
        else { throw SluiceError(.invalidArgument, "the file \(path) of jwks cannot be read, or is empty") }
        guard data.count <= TokenKeys.mostBytes else {
            throw SluiceError(.invalidArgument, "the file \(path) of jwks is larger than \(TokenKeys.mostBytes) bytes")
        }
        do {
            return try await TokenKeys.keys(jwks: Array(data))
        } catch {
            throw SluiceError(.invalidArgument, "the file \(path) of jwks: \(error.message)")
        }
    }
}
