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

/// The file at a store's path, and its log, by which it is noticed that others have taken their names.
struct FilePlace: Sendable {
    private let path: String
    private let logPath: String
    private let file: FileIdentity?
    private var log: FileIdentity?

    init(_ path: String) {
        (self.path, logPath) = (path, path + "-wal")
        file = FileIdentity(path)
    }

    /// Notes the log that is there, once a connection has it open.
    mutating func noteLog() { log = FileIdentity(logPath) }

    /// Whether the path leads to the file.
    var hasFile: Bool { file.map { FileIdentity(path) == $0 } ?? true }

    /// Whether no other log has the log's name. One that comes with another file stays beside this one if this one is
    /// moved back, and others would use it. Without the name, nobody does.
    var hasLog: Bool { log == nil || FileIdentity(logPath).map { $0 == log } ?? true }
}

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
