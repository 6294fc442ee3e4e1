internal import SluiceCore

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
