internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The file beside a store whose lock is the store's lease. The kernel releases the lock when the process ends. A
/// process that hangs keeps it, until the file is removed.
struct LeaseFile: Sendable {
    /// The suffix after the store's path.
    static let suffix = "-lease"
    /// The file's path.
    let path: String

    /// Takes the lease, or returns nil if somebody has it.
    ///
    /// - Throws: ``SluiceError`` of code `storeInputOutput` if the file cannot be created.
    func take() throws -> StoreLease? {
        while true {
            let mode = StoreFolder.mode(beside: String(path.dropLast(Self.suffix.count)))
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode)
            guard descriptor >= 0 else { throw failure(errno) }
            var result = flock(descriptor, LOCK_EX | LOCK_NB)
            while result != 0, errno == EINTR { result = flock(descriptor, LOCK_EX | LOCK_NB) }
            if result != 0 {
                let reason = errno
                _ = close(descriptor)
                if reason == EWOULDBLOCK { return nil }
                throw failure(reason)
            }
            // A file that was removed between opening and locking is nobody's lease.
            if isStillHere(descriptor) { return StoreLease { Self.giveBack(descriptor) } }
            _ = close(descriptor)
        }
    }

    /// Unlocks before it closes. A process that this one is just starting holds the descriptor too until its program
    /// runs, and would keep the lock.
    private static func giveBack(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }

    /// Takes the lease away from its holder, by removing the file that the holder's lock is on.
    func breakUp() throws {
        if unlink(path) != 0, errno != ENOENT { throw failure(errno) }
    }

    private func isStillHere(_ descriptor: Int32) -> Bool {
        FileIdentity(path).map { $0 == FileIdentity(descriptor: descriptor) } ?? false
    }

    private func failure(_ reason: Int32) -> SluiceError {
        SluiceError(
            .storeInputOutput,
            "the lease file \(path) cannot be used (\(String(cString: strerror(reason)))); "
                + "see that its directory may be written")
    }
}
