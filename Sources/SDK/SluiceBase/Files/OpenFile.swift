#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The ways to open a file; none of them is reading.
package struct FileOpening: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Reads a file that exists.
    package static let reading: FileOpening = []
    /// Writes, without reading.
    package static let writing = FileOpening(rawValue: 1)
    /// Writes at the end.
    package static let appending = FileOpening(rawValue: 2)
    /// Reads and writes.
    package static let updating = FileOpening(rawValue: 4)
    /// Creates a missing file.
    package static let creating = FileOpening(rawValue: 8)
    /// Creates the file, and fails if there is one.
    package static let new = FileOpening(rawValue: 16)
    /// Removes the file's content.
    package static let emptying = FileOpening(rawValue: 32)
    /// Fails if the path's last part is a symbolic link.
    package static let withoutLinks = FileOpening(rawValue: 64)
    /// Waits for no other end of a pipe.
    package static let withoutWaiting = FileOpening(rawValue: 128)
    /// Fails for anything but a file with content. A pipe, for example, may never have a writer.
    package static let filesOnly = FileOpening(rawValue: 256)
    /// Opens a folder, and fails for anything else.
    package static let folder = FileOpening(rawValue: 512)

    /// The flags of open(2). No program that this process starts gets the descriptor.
    fileprivate var flags: Int32 {
        let given: [(FileOpening, Int32)] = [
            (.writing, O_WRONLY), (.appending, O_WRONLY | O_APPEND), (.updating, O_RDWR), (.creating, O_CREAT),
            (.new, O_CREAT | O_EXCL), (.emptying, O_TRUNC), (.withoutLinks, O_NOFOLLOW), (.withoutWaiting, O_NONBLOCK),
            (.filesOnly, O_NONBLOCK), (.folder, O_DIRECTORY),
        ]
        return given.reduce(O_CLOEXEC) { contains($1.0) ? $0 | $1.1 : $0 }
    }
}

/// An open file or folder. It is closed when the last reference to it is gone.
package final class OpenFile: Sendable {
    /// The file's descriptor, which belongs to this object.
    package let descriptor: Int32

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - mode: the permissions of a file that is created.
    ///   - folder: the folder that a relative path begins at; the process's own if nil.
    package init(
        _ path: String, _ way: FileOpening = .reading, mode: UInt32 = 0o600, in folder: OpenFile? = nil
    ) throws(SystemFailure) {
        let (start, flags) = (folder?.descriptor ?? AT_FDCWD, way.flags)
        descriptor = SystemCall.repeated { openat(start, path, flags, mode_t(truncatingIfNeeded: mode)) }
        guard descriptor >= 0 else { throw .last("open") }
        if way.contains(.filesOnly), !(try status().isFile) { throw SystemFailure("open", code: EINVAL) }
    }

    deinit { if descriptor >= 0 { _ = close(descriptor) } }

    /// Returns the file's properties.
    package func status() throws(SystemFailure) -> FileStatus {
        guard let status = FileStatus(descriptor: descriptor) else { throw .last("fstat") }
        return status
    }

    /// Whether the path leads to this file.
    package func isAt(_ path: String) -> Bool {
        FileIdentity(path).map { $0 == FileIdentity(descriptor: descriptor) } ?? false
    }

    // MARK: Claims

    /// Claims the file for this object, and returns whether it did: false if another one has claimed it. The kernel ends
    /// the claim when the process ends, for any reason.
    package func claim() throws(SystemFailure) -> Bool {
        if SystemCall.repeated({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw .last("flock") }
        return false
    }

    /// Ends the claim. Closing alone would not end it while a process that this one is just starting has the descriptor
    /// too: it keeps it until its program runs.
    package func release() { _ = flock(descriptor, LOCK_UN) }

    /// Whether another object or process has claimed the file.
    package var isClaimed: Bool { SystemCall.repeated { flock(descriptor, LOCK_SH | LOCK_NB) } != 0 }
}

extension OpenFile {
    /// Returns the next bytes, or those from an offset on: fewer than the limit only if the file ends.
    package func read(upTo limit: Int, at offset: Int? = nil) throws(SystemFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(limit, 1 << 16))
        while bytes.count < limit {
            let wanted = min(limit - bytes.count, piece.count)
            let place = offset.map { $0 + bytes.count }
            let count = piece.withUnsafeMutableBytes {
                SystemCall.fill(.init(rebasing: $0[..<wanted]), from: descriptor, at: place)
            }
            guard count >= 0 else { throw .last("read") }
            bytes += piece[..<count]
            if count < wanted { break }
        }
        return bytes
    }

    /// Fills the buffer with the next bytes, and returns their number: fewer than the buffer has only if the file ends.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SystemFailure) -> Int {
        let count = SystemCall.fill(buffer, from: descriptor, at: nil)
        guard count >= 0 else { throw .last("read") }
        return count
    }

    /// Writes all bytes, at the file's current place or at an offset.
    ///
    /// - Throws: ``SystemFailure``, with the number of bytes that were written.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int? = nil) throws(SystemFailure) {
        if let failure = SystemCall.write(bytes, to: descriptor, at: offset) { throw failure }
    }

    /// Writes all bytes, at the file's current place or at an offset.
    ///
    /// - Throws: ``SystemFailure``, with the number of bytes that were written.
    package func write(_ bytes: [UInt8], at offset: Int? = nil) throws(SystemFailure) {
        let failure = bytes.withUnsafeBytes { SystemCall.write($0, to: descriptor, at: offset) }
        if let failure { throw failure }
    }

    /// Cuts the file off after so many bytes.
    package func truncate(to size: Int) throws(SystemFailure) {
        guard SystemCall.repeated({ ftruncate(descriptor, off_t(size)) }) == 0 else { throw .last("ftruncate") }
    }

    /// Waits until the content is on the disk.
    package func sync() throws(SystemFailure) {
        guard SystemCall.repeated({ fsync(descriptor) }) == 0 else { throw .last("fsync") }
    }
}
