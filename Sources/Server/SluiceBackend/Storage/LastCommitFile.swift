internal import Foundation
internal import SluiceCore
internal import Synchronization

/// The file of a database's mark: the database's path with `-mark` appended.
final class LastCommitFile: Sendable {
    private struct State {
        var handle: FileHandle?
        var last: LastCommit?
    }

    let path: String
    private let state = Mutex(State())

    init(databasePath: String) { path = databasePath + "-mark" }

    /// Reads the mark; nil if there is none, or the file holds something else.
    func read() -> LastCommit? {
        FileManager.default.contents(atPath: path).flatMap { LastCommit(line: String(decoding: $0, as: UTF8.self)) }
    }

    /// Overwrites the mark without a sync: a power failure may lose it, as it may lose the last changes.
    func write(_ mark: LastCommit) throws(SluiceError) {
        let error: (any Error)? = state.withLock { state -> (any Error)? in
            if state.last == mark { return nil }
            do {
                let line = Data(mark.line.utf8)
                if let handle = state.handle {
                    try handle.seek(toOffset: 0)
                    try handle.write(contentsOf: line)
                } else {
                    // The first write replaces the whole file, which may hold a longer text.
                    try line.write(to: URL(fileURLWithPath: path), options: .atomic)
                    state.handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
                }
                state.last = mark
                return nil
            } catch {
                return error
            }
        }
        if let error {
            throw SluiceError(.storeInputOutput, "the file \(path) beside the database cannot be written", cause: error)
        }
    }
}
