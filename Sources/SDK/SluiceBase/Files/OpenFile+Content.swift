#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

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
