internal import SluiceCore
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The store files that this process has open, and how each begins.
///
/// A file's locks belong to the process: whoever opens such a file once more and closes it again gives away the locks
/// of every connection to it (sqlite.org/howtocorrupt.html, section 2.2). So what an open file begins with is kept
/// here, and nobody has to look.
enum OpenStores {
    private struct Entry {
        var start: [UInt8]
        let path: String
        var count: Int
    }

    private static let entries = Mutex<[FileIdentity: Entry]>([:])

    /// One store's being open, until it is let go.
    final class Registration: Sendable {
        private let file: Mutex<FileIdentity?>
        /// Keeps the file's number from being given to another file while it is noted here, though the name and all
        /// connections may be gone already.
        private let pin: Int32

        fileprivate init(_ file: FileIdentity, pin: Int32) {
            self.file = Mutex(file)
            self.pin = pin
        }

        deinit { end() }

        /// Says that its connections are closed.
        func end() {
            guard let file = file.withLock({ $0.take() }) else { return }
            entries.withLock { entries in
                entries[file]?.count -= 1
                if entries[file]?.count == 0 { entries[file] = nil }
            }
            if pin >= 0 { _ = close(pin) }
        }
    }

    /// Opens nothing of the file but its place, so that closing it lets no lock go: Linux, open(2), `O_PATH`.
    private static func pin(_ path: String) -> Int32 {
        #if canImport(Glibc)
            open(path, 0o10000000 | O_CLOEXEC)
        #else
            -1
        #endif
    }

    /// Notes that the file is open, which begins so.
    ///
    /// - Throws: ``SluiceError`` of code `storeInputOutput` where it is open under another name, as that of a mount or
    ///   the one that it had before it was renamed: what is in the log of that name would be missed.
    static func register(_ path: String, start: [UInt8]) throws -> Registration? {
        let pin = pin(path)
        guard let file = pin < 0 ? FileIdentity(path) : FileIdentity(descriptor: pin) else {
            if pin >= 0 { _ = close(pin) }
            return nil
        }
        let other = entries.withLock { entries -> String? in
            let entry = entries[file] ?? Entry(start: start, path: path, count: 0)
            guard entry.path.utf8.elementsEqual(path.utf8) else { return entry.path }
            entries[file] = entry
            entries[file]?.count += 1
            return nil
        }
        if let other {
            if pin >= 0 { _ = close(pin) }
            throw SluiceError(
                .storeInputOutput, "the store \(path) is open in this process under another name, \(other)")
        }
        return Registration(file, pin: pin)
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
