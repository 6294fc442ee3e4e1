internal import Foundation
internal import Sluice

/// The lines of a file, one at a time. None is longer than an import allows, since a file without a line's end would
/// otherwise be in memory as a whole. Only one reader uses it, so it may be unchecked `Sendable`.
final class FileLines: @unchecked Sendable {
    private static let lineEnd: UInt8 = 0x0A
    private let file: UnsafeMutablePointer<FILE>
    /// The file's name in messages.
    let name: String
    private let longest: Int
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)
    /// The bytes of the chunk that belong to no line yet.
    private var unread = 0..<0
    /// The number of lines begun: after a call, the returned line's number, counted from 1.
    private(set) var number = 0

    /// - Parameters:
    ///   - path: the file's, or - for standard input.
    ///   - longest: the largest size of a line in bytes, without its end.
    init(_ path: String, longest: Int) throws {
        name = InputArgument.name(of: path)
        let file: UnsafeMutablePointer<FILE>?
        if path == "-" {
            let descriptor = dup(STDIN_FILENO)
            file = descriptor < 0 ? nil : fdopen(descriptor, "r")
        } else {
            file = fopen(path, "re")
        }
        guard let file else {
            throw CommandFailure.usage("\(name) cannot be read: \(String(cString: strerror(errno)))")
        }
        self.file = file
        self.longest = longest
    }

    deinit { fclose(file) }

    /// Returns the next line, without its end; nil after the last.
    func next() throws -> String? { try nextBytes().map { try text($0) } }

    /// Returns the next line as bytes, whether or not it is UTF-8.
    func nextBytes() throws -> [UInt8]? {
        number += 1
        var line: [UInt8] = []
        while true {
            if unread.isEmpty { try fill() }
            // The last line of a file may have no end.
            if unread.isEmpty { return line.isEmpty ? nil : line }
            let end = endOfLine()
            let piece = unread.lowerBound..<(end ?? unread.upperBound)
            guard line.count + piece.count <= longest else { throw StoreImport.tooLong(number, longest: longest) }
            line += chunk[piece]
            guard let end else {
                unread = 0..<0
                continue
            }
            unread = (end + 1)..<unread.upperBound
            return line
        }
    }

    private func fill() throws {
        let count = chunk.withUnsafeMutableBytes { fread($0.baseAddress, 1, $0.count, file) }
        unread = 0..<count
        if unread.isEmpty, ferror(file) != 0 {
            throw CommandFailure.usage("\(name) cannot be read to its end")
        }
    }

    /// Returns the end of the line in the chunk; nil if it goes on after the chunk.
    private func endOfLine() -> Int? {
        chunk.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress,
                let end = memchr(start + unread.lowerBound, Int32(Self.lineEnd), unread.count)
            else { return nil }
            return start.distance(to: UnsafeRawPointer(end))
        }
    }

    private func text(_ line: [UInt8]) throws -> String {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw CommandFailure(.usage, "invalidJSON", "the export is not UTF-8")
        }
        return text
    }
}
