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
            do throws(SystemFailure) {
                let file = try OpenFile(path, [.updating, .creating], mode: mode)
                guard try file.claim() else { return nil }
                // A file that was removed between opening and locking is nobody's lease.
                if file.isAt(path) { return StoreLease { file.release() } }
            } catch {
                throw failure(error.reason)
            }
        }
    }

    /// Takes the lease away from its holder, by removing the file that the holder's lock is on.
    func breakUp() throws {
        if unlink(path) != 0, errno != ENOENT { throw failure(SystemFailure.last("unlink").reason) }
    }

    private func failure(_ reason: String) -> SluiceError {
        SluiceError(
            .storeInputOutput,
            "the lease file \(path) cannot be used (\(reason)); see that its directory may be written")
    }
}
