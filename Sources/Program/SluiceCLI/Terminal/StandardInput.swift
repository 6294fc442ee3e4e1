internal import Foundation

/// The bytes of standard input.
enum StandardInput {
    /// All of it; nil where it cannot be read: it is closed, or is a folder.
    static func read() -> [UInt8]? {
        do { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) } catch { return nil }
    }
}
