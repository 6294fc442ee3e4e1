#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A system call that failed.
package struct SystemFailure: Error, Hashable, CustomStringConvertible {
    /// The name of the call.
    package let call: String
    /// The system's code of the error (errno(3)).
    package let code: Int32
    /// The number of bytes that were written before the failure.
    package let written: Int

    package init(_ call: String, code: Int32, written: Int = 0) {
        (self.call, self.code, self.written) = (call, code, written)
    }

    /// Returns the failure of the call before.
    package static func last(_ call: String) -> SystemFailure { SystemFailure(call, code: errno) }

    /// The system's reason, without the name of the call.
    package var reason: String { String(cString: strerror(code)) }
    package var description: String { "\(call): \(reason)" }
    /// Whether the disk, or the user's part of it, is full.
    package var isFull: Bool { code == ENOSPC || code == EDQUOT }
    /// Whether there is nothing at the path.
    package var isAbsence: Bool { code == ENOENT }
}

/// System calls that are repeated after a signal.
package enum SystemCall {
    /// Returns the result of a call, which is repeated as long as signals interrupt it.
    package static func repeated<Result: SignedInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    /// Writes bytes to a descriptor, and waits while the other end accepts no more.
    ///
    /// - Parameter offset: the place in the file; nil for the descriptor's own.
    /// - Returns: the failure if not all of them could be written; nil otherwise.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int? = nil
    ) -> SystemFailure? {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = repeated { sent(rest, to: descriptor, at: offset.map { $0 + done }) }
            if count > 0 {
                done += count
            } else if count < 0, errno == EAGAIN {
                // The creator of a pipe may have made it non-blocking.
                var end = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&end, 1, -1)
            } else {
                return SystemFailure("write", code: count < 0 ? errno : EIO, written: done)
            }
        }
        return nil
    }

    /// Reads bytes from a descriptor until the buffer is full or the input ends.
    ///
    /// - Returns: the number of bytes that were read; -1 for a failure.
    static func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int?) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = repeated { received(rest, from: descriptor, at: offset.map { $0 + done }) }
            if count < 0 { return count }
            if count == 0 { break }
            done += count
        }
        return done
    }
}

private func sent(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int?) -> Int {
    if let offset { return pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) }
    return write(descriptor, bytes.baseAddress, bytes.count)
}

private func received(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int?) -> Int {
    if let offset { return pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
    return read(descriptor, buffer.baseAddress, buffer.count)
}
