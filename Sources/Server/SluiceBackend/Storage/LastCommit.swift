internal import Foundation
internal import SluiceCore
internal import Synchronization

/// The last commit of a database, kept in a file beside it. By it a restored backup is detected.
struct LastCommit: Sendable, Hashable {
    /// The identity of the database.
    var identity: String
    /// The latest point of its history.
    var point: HistoryPoint
    /// The time of the latest change of any table.
    var latest: Timestamp

    private static let head = "sluice-mark 1"

    /// Reads the state that the open transaction will commit.
    init(_ connection: any StorageConnection) throws {
        identity = try BackendCatalog.identity(connection)
        point = try connection.latestPoint()
        latest = Timestamp(ticks: try connection.integer("SELECT coalesce(max(latest), 0) FROM sluice_tables"))
    }

    /// The mark as one line. All lines have the same length, so that each overwrites the previous one completely.
    var line: String {
        let numbers = [Int64(point.epoch), point.number, latest.ticks].map { number in
            let digits = String(number)
            return String(repeating: " ", count: 20 - digits.utf8.count) + digits
        }
        return ([Self.head, identity] + numbers).joined(separator: " ") + "\n"
    }

    /// Reads a line; nil for another text.
    init?(line: String) {
        let words = line.split { $0 == " " || $0 == "\n" }.map(String.init)
        guard words.count == 6, words[0...1].joined(separator: " ") == Self.head, let epoch = UInt32(words[3]),
            let number = Int64(words[4]), let ticks = Int64(words[5])
        else { return nil }
        identity = words[2]
        point = HistoryPoint(epoch: epoch, number: number)
        latest = Timestamp(ticks: ticks)
    }
}

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
