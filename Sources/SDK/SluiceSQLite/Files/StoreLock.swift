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
        let file = try claimed()
        defer { file.release() }
        return try body()
    }

    /// Runs asynchronous `body` with the lock held: the lock belongs to the process, not to a thread.
    func holding<Result>(_ body: () async throws -> Result) async throws -> Result {
        let file = try claimed()
        defer { file.release() }
        return try await body()
    }

    /// The lock while it is held.
    struct Hold: Sendable {
        fileprivate let file: OpenFile

        /// Releases the lock.
        func release() { file.release() }
    }

    /// Takes the lock until its hold is released.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` if another holds it for longer than the timeout.
    func take() throws -> Hold { Hold(file: try claimed()) }

    private func claimed() throws -> OpenFile {
        let file: OpenFile
        do throws(SystemFailure) {
            file = try OpenFile(path + "-lock", [.updating, .creating], mode: StoreFolder.mode(beside: path))
        } catch {
            throw SluiceError(
                .storeInputOutput,
                "the store \(path) cannot be locked (\(error.reason)); "
                    + "see that its directory exists and may be written")
        }
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        var pause: UInt32 = 200
        while try !isClaimed(file) {
            guard clock.now < deadline else {
                throw SluiceError(
                    .storeBusy, "the store \(path) is locked by another process or connection; try again")
            }
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
        return file
    }

    private func isClaimed(_ file: OpenFile) throws -> Bool {
        do throws(SystemFailure) {
            return try file.claim()
        } catch {
            throw SluiceError(.storeInputOutput, "the store \(path) cannot be locked (\(error.reason))")
        }
    }
}
