internal import Foundation
internal import Sluice
internal import SluiceConfiguration
internal import Synchronization

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

/// The bytes of standard input.
enum StandardInput {
    /// Reads all of it; nil if it cannot be read: it is closed, or is a folder.
    static func read() -> [UInt8]? {
        do { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) } catch { return nil }
    }
}

/// Lines on standard output of a command that goes on after them: it learns at its end whether one was lost.
final class OutputLines: Sendable {
    private let failure = Mutex<StreamFailure?>(nil)

    func write(_ line: String) {
        do { try StandardStream.output.write(line: line) } catch {
            failure.withLock { $0 = $0 ?? error as? StreamFailure }
        }
    }

    /// - Throws: ``StreamFailure``: the reason why the first lost line was lost.
    func check() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}

/// Makes text from servers and files safe to show.
enum Plain {
    /// Returns the text as one line: control characters, which could move a terminal's cursor, become spaces.
    static func line(_ text: String) -> String { PlainText.line(text) }

    /// Returns the number with grouped thousands: `12,345`.
    static func count(_ number: Int) -> String { number.grouped }

    /// Returns the number and its noun: `1 row`, `2 rows`.
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String { number.counted(noun, plural) }
}
