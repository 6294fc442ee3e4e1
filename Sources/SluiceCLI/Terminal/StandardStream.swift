#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Standard output and standard error, written at once and whole.
enum StandardStream: Int32 {
    case output = 1
    case error = 2

    /// Whether a person reads along.
    var isTerminal: Bool {
        guard isatty(rawValue) == 1 else { return false }
        return getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// The terminal's width in columns; 80 where it does not say.
    var width: Int {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes the line.
    func write(line: String) { write(Array((line + "\n").utf8)) }

    /// Writes the bytes. A reader that has gone away is not an error: nobody is left to be told.
    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                #if canImport(Glibc)
                    let count = Glibc.write(rawValue, piece.baseAddress, piece.count)
                #else
                    let count = Darwin.write(rawValue, piece.baseAddress, piece.count)
                #endif
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    return
                }
            }
        }
    }
}
