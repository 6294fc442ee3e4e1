internal import Foundation

/// The bytes of standard input.
enum StandardInput {
    /// Reads all of it; nil if it cannot be read: it is closed, or is a folder.
    static func read() -> [UInt8]? {
        do { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) } catch { return nil }
    }
}
