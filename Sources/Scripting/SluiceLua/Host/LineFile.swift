internal import Foundation
internal import SluiceCore

/// A file to which lines of JSON are appended, each in one piece. If this or another program moves the file away, a new
/// one is created. If a process was killed during a write, its partial line is removed: otherwise the next line would
/// be joined to it.
final class LineFile {
    private let path: String
    private let maximumBytes: Int?
    private let kept: Int
    /// The beginning of every line: only a partial line that begins like this is removed.
    private let head: [UInt8]
    /// The file that the lines go to; nil before it is opened.
    private var file: OpenFile?
    private var size = 0

    init(path: String, maximumBytes: Int?, kept: Int, head: String) {
        self.path = path
        self.head = Array(head.utf8)
        self.maximumBytes = maximumBytes
        self.kept = max(0, kept)
    }

    deinit { shut() }

    /// Appends a line, line end included.
    ///
    /// - Throws: ``SystemFailure``; in this case nothing of the line is in the file.
    func append(_ line: [UInt8]) throws(SystemFailure) {
        var file = try ready()
        if let maximumBytes, size > 0, size + line.count > maximumBytes {
            try rotate()
            file = try ready()
        }
        do throws(SystemFailure) {
            try file.write(line)
        } catch {
            // The next line has to start on a new line.
            if error.written > 0 { try? file.truncate(to: size) }
            throw error
        }
        size += line.count
    }

    /// Opens the file that is at the path now.
    func ready() throws(SystemFailure) -> OpenFile {
        if let file, file.isAt(path) {
            // Another program may have truncated it.
            size = try file.status().size
            return file
        }
        shut()
        let opened = try OpenFile(path, [.appending, .creating, .filesOnly])
        guard !Self.isOther(path, than: head) else { throw SystemFailure("open", code: EEXIST) }
        size = try opened.status().size
        file = opened
        try endLastLine(of: opened)
        return opened
    }

    /// Whether a file at the path begins with something else: then another program owns it.
    static func isOther(_ path: String, than head: [UInt8]) -> Bool {
        guard let file = try? OpenFile(path, .filesOnly) else { return false }
        guard let start = try? file.read(upTo: head.count) else { return true }
        return !head.starts(with: start)
    }

    /// Makes the file end with a line end. The file stays locked while it is open: otherwise another process could take
    /// a line that is being written for an unfinished one.
    private func endLastLine(of file: OpenFile) throws(SystemFailure) {
        guard (try? file.claim()) == true else { return }
        let tail = lastPart()
        guard !tail.isEmpty else { return }
        let isTorn = tail.starts(with: head) || head.starts(with: tail)
        if isTorn, (try? JSON(parsing: tail)) == nil {
            try file.truncate(to: size - tail.count)
            size -= tail.count
        } else {
            try file.write([UInt8(ascii: "\n")])
            size += 1
        }
    }

    /// Returns the bytes after the last line end; none if the file cannot be read.
    private func lastPart() -> [UInt8] {
        guard let file = try? OpenFile(path, .filesOnly) else { return [] }
        var tail: [UInt8] = []
        var end = size
        while end > 0 {
            let start = max(0, end - (64 << 10))
            guard let block = try? file.read(upTo: end - start, at: start), block.count == end - start else {
                return []
            }
            if let last = block.lastIndex(of: UInt8(ascii: "\n")) { return block[(last + 1)...] + tail }
            tail = block + tail
            end = start
        }
        return tail
    }

    private func rotate() throws(SystemFailure) {
        shut()
        if kept == 0 {
            guard unlink(path) == 0 else { throw .last("unlink") }
            return
        }
        for number in (1..<kept).reversed() where rename("\(path).\(number)", "\(path).\(number + 1)") != 0 {
            guard errno == ENOENT else { throw .last("rename") }
        }
        guard rename(path, "\(path).1") == 0 else { throw .last("rename") }
    }

    private func shut() {
        file?.release()
        file = nil
    }
}
