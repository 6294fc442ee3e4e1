internal import CSQLite
internal import SluiceCore

/// The file to which the log beside a store belongs, as a note in the store's lock file.
///
/// SQLite finds a log by its name. When another file takes the store's name, the former one's log is still beside it,
/// and SQLite would apply it to pages that it does not fit. So the log that the note names is set aside if it stands
/// beside another file than the noted one. A log that the note does not name came along with its file, as from a
/// backup. The store's lock is held.
struct LogOwner: Equatable {
    /// A file's number and time of creation. They say the same after a restart; the device's number would not.
    private struct Birth: Equatable {
        var number: UInt64 = 0
        var time: UInt64 = 0

        /// Nil if there is no file.
        init?(_ path: String) {
            guard csqlite_file_birth(path, &number, &time) == 1 else { return nil }
        }

        init(_ number: UInt64, _ time: UInt64) { (self.number, self.time) = (number, time) }
    }

    private let file: Birth
    private let log: Birth

    /// The files that are at the path now; nil if one is missing.
    private init?(of path: String) {
        guard let file = Birth(path), let log = Birth(path + "-wal") else { return nil }
        (self.file, self.log) = (file, log)
    }

    /// Nil for a text that is no whole note.
    private init?(_ text: String) {
        let numbers = text.split(separator: " ").compactMap { UInt64($0) }
        guard text.hasSuffix(" "), numbers.count == 4 else { return nil }
        (file, log) = (Birth(numbers[0], numbers[1]), Birth(numbers[2], numbers[3]))
    }

    private var text: String { "\(file.number) \(file.time) \(log.number) \(log.time) " }

    /// Notes that the log at the path belongs to the file there. It must be noted before anything is written to the log.
    /// A full disk that takes no note takes no log either, and the store can still be read.
    static func note(_ path: String) throws {
        guard let owner = LogOwner(of: path), try noted(path) != owner else { return }
        try StoreFiles.calling("note the log in", path + "-lock") { () throws(SystemFailure) in
            let (lock, bytes) = (try OpenFile(path + "-lock", .writing), Array(owner.text.utf8))
            do throws(SystemFailure) {
                // The note is written over the former one, so it needs no more space.
                try lock.write(bytes)
                try lock.truncate(to: bytes.count)
            } catch {
                if !error.isFull { throw error }
            }
        }
    }

    private static func noted(_ path: String) throws -> LogOwner? {
        try StoreFiles.calling("read", path + "-lock") { () throws(SystemFailure) in
            LogOwner(String(decoding: try OpenFile(path + "-lock").read(upTo: 100), as: UTF8.self))
        }
    }

    /// Whether the file at the path is known to have had a log, and so pages of its own.
    static func wasWritten(_ path: String) throws -> Bool {
        guard let file = Birth(path) else { return false }
        return try noted(path)?.file == file
    }

    /// Sets the log at the path aside, with the time in its name, if it belongs to another file than the one there. An
    /// empty one is removed.
    static func setForeignLogAside(_ path: String) throws {
        guard let noted = try noted(path), let found = LogOwner(of: path), noted.log == found.log,
            noted.file != found.file
        else { return }
        // First, because an index without its log would count for the next log.
        try StoreFiles.remove(path + "-shm")
        if StoreFolder.size(of: path + "-wal") > 0 {
            try StoreFiles.move(path + "-wal", to: StoreFolder.aside(path, replacedMark, SystemClock.now()))
        } else {
            try StoreFiles.remove(path + "-wal")
        }
        try StoreFiles.syncFolder(of: path)
    }

    /// The mark in the name of a log that was set aside.
    static let replacedMark = "-wal.replaced-"
}
