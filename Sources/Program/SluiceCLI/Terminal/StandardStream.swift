#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Standard output and standard error, written at once and whole: the one place that writes to them.
enum StandardStream: Int32 {
    case output = 1
    case error = 2

    /// Whether the stream is a terminal.
    var isTerminal: Bool {
        guard isatty(rawValue) == 1 else { return false }
        return getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// The terminal's width in columns; 80 if unknown.
    var width: Int {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes the line on standard error. If that fails, there is no way left to report it.
    static func tell(line: String) { try? error.write(line: line) }

    /// Writes the line.
    ///
    /// - Throws: ``StreamFailure`` if not all of it could be written.
    func write(line: String) throws { try write(Array((line + "\n").utf8)) }

    /// Writes the bytes, and waits while the other end accepts no more.
    ///
    /// - Throws: ``StreamFailure`` if not all of them could be written: the disk is full, or the reader is gone.
    func write(_ bytes: [UInt8]) throws {
        if let reason = Self.write(bytes, to: rawValue) { throw StreamFailure(stream: self, reason: reason) }
    }

    /// Writes the bytes to a descriptor, and waits while the other end accepts no more.
    ///
    /// - Returns: the system's reason if not all of them could be written; nil otherwise.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> String? {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                #if canImport(Glibc)
                    let count = Glibc.write(descriptor, piece.baseAddress, piece.count)
                #else
                    let count = Darwin.write(descriptor, piece.baseAddress, piece.count)
                #endif
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // The creator of the pipe may have made it non-blocking.
                    var end = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&end, 1, -1)
                } else if errno != EINTR {
                    return String(cString: strerror(errno))
                }
            }
            return nil
        }
    }
}

/// A failure to write output.
struct StreamFailure: Error, CustomStringConvertible {
    let stream: StandardStream
    /// The system's reason.
    let reason: String

    var description: String {
        "not all could be written to standard \(stream == .output ? "output" : "error"): \(reason)"
    }
}
