internal import Sluice

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
        if let failure = bytes.withUnsafeBytes({ SystemCall.write($0, to: rawValue) }) {
            throw StreamFailure(stream: self, reason: failure.reason)
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
