internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The lock that every writer of a store file takes, in this process or another: the kernel releases it when the
/// process ends, for any reason.
///
/// SQLite's own lock is not enough. Before 3.51.3, two connections that restart a write-ahead log at the same moment
/// can damage the file, so that checkpoints need a lock around them too.
struct StoreLock: Sendable {
    /// The store's file.
    let path: String
    /// The longest time to wait for the lock.
    let timeout: Duration

    /// Runs `body` with the lock held.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` if another holds it for longer than the timeout.
    func hold<Result>(_ body: () throws -> Result) throws -> Result {
        let descriptor = try taken()
        defer { Self.release(descriptor) }
        return try body()
    }

    /// Runs asynchronous `body` with the lock held: the lock belongs to the process, not to a thread.
    func holding<Result>(_ body: () async throws -> Result) async throws -> Result {
        let descriptor = try taken()
        defer { Self.release(descriptor) }
        return try await body()
    }

    /// The lock while it is held.
    struct Hold: Sendable {
        fileprivate let descriptor: Int32

        /// Releases the lock; to be called once.
        func release() { StoreLock.release(descriptor) }
    }

    /// Takes the lock until its hold is released.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` if another holds it for longer than the timeout.
    func take() throws -> Hold { Hold(descriptor: try taken()) }

    private func taken() throws -> Int32 {
        let descriptor = open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC, StoreFolder.mode(beside: path))
        guard descriptor >= 0 else {
            throw SluiceError(
                .storeInputOutput,
                "the store \(path) cannot be locked (\(String(cString: strerror(errno)))); "
                    + "see that its directory exists and may be written")
        }
        do {
            try take(descriptor)
        } catch {
            _ = close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func release(_ descriptor: Int32) {
        // Closing alone would not release the lock while a process that this one is just starting has the descriptor
        // too.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }

    private func take(_ descriptor: Int32) throws {
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        var pause: UInt32 = 200
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let reason = errno
            guard reason == EWOULDBLOCK || reason == EINTR else {
                throw SluiceError(
                    .storeInputOutput, "the store \(path) cannot be locked (\(String(cString: strerror(reason))))")
            }
            guard clock.now < deadline else {
                throw SluiceError(
                    .storeBusy, "the store \(path) is locked by another process or connection; try again")
            }
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
    }
}
