internal import Synchronization

/// The store files that this process has open, and how each begins.
///
/// A file's locks belong to the process: whoever opens such a file once more and closes it again gives away the locks
/// of every connection to it (sqlite.org/howtocorrupt.html, section 2.2). So what an open file begins with is kept
/// here, and nobody has to look.
enum OpenStores {
    private struct Entry {
        var start: [UInt8]
        var count: Int
    }

    private static let entries = Mutex<[FileIdentity: Entry]>([:])

    /// One store's being open, until it is let go.
    final class Registration: Sendable {
        private let file: Mutex<FileIdentity?>
        fileprivate init(_ file: FileIdentity) { self.file = Mutex(file) }

        deinit { end() }

        /// Says that its connections are closed.
        func end() {
            guard let file = file.withLock({ $0.take() }) else { return }
            entries.withLock { entries in
                entries[file]?.count -= 1
                if entries[file]?.count == 0 { entries[file] = nil }
            }
        }
    }

    /// Notes that the file is open, which begins so.
    static func register(_ path: String, start: [UInt8]) -> Registration? {
        guard let file = FileIdentity(path) else { return nil }
        entries.withLock { $0[file, default: Entry(start: start, count: 0)].count += 1 }
        return Registration(file)
    }

    /// Whether this process has the file open.
    static func contains(_ path: String) -> Bool {
        FileIdentity(path).map { file in entries.withLock { $0[file] != nil } } ?? false
    }

    /// The file's first 16 bytes; none where there is no file or nothing in it.
    static func start(of path: String) -> [UInt8] {
        let known = FileIdentity(path).flatMap { file in entries.withLock { $0[file]?.start } }
        return known ?? FileBytes.start(of: path, count: FileBytes.magic.count)
    }
}
