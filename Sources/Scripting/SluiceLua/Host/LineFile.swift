internal import Foundation
internal import SluiceCore

/// A file to which lines of JSON are appended, each in one piece. If this or another program moves the file away, a new
/// one is created. If a process was killed during a write, its partial line is removed: otherwise the next line would
/// be joined to it.
final class LineFile {
    /// A system call that failed.
    struct Fault: Error, CustomStringConvertible {
        let call: String
        let code: CInt
        var description: String { "\(call): \(String(cString: strerror(code)))" }
    }

    private let path: String
    private let maximumBytes: Int?
    private let kept: Int
    /// The beginning of every line: only a partial line that begins like this is removed.
    private let head: [UInt8]
    private var descriptor: CInt = -1
    private var place: (device: dev_t, number: ino_t) = (0, 0)
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
    /// - Throws: ``Fault``; in this case nothing of the line is in the file.
    func append(_ line: [UInt8]) throws(Fault) {
        try ready()
        if let maximumBytes, size > 0, size + line.count > maximumBytes {
            try rotate()
            try ready()
        }
        var done = 0
        while done < line.count {
            let count = line.withUnsafeBytes { bytes in
                write(descriptor, bytes.baseAddress?.advanced(by: done), line.count - done)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let fault = Fault(call: "write", code: errno)
                // The next line has to start on a new line.
                if done > 0 { _ = ftruncate(descriptor, off_t(size)) }
                throw fault
            }
            done += count
        }
        size += line.count
    }

    /// Opens the file that is at the path now.
    func ready() throws(Fault) {
        var info = stat()
        if descriptor >= 0, stat(path, &info) == 0, place == (info.st_dev, info.st_ino) {
            // Another program may have truncated it.
            size = Int(info.st_size)
            return
        }
        shut()
        // Without it, opening a pipe would wait for a reader.
        let opened = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard opened >= 0 else { throw Fault(call: "open", code: errno) }
        guard fstat(opened, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw Fault(call: "open", code: EINVAL)
        }
        guard !Self.isOther(path, than: head) else {
            close(opened)
            throw Fault(call: "open", code: EEXIST)
        }
        (descriptor, place, size) = (opened, (info.st_dev, info.st_ino), Int(info.st_size))
        try endLastLine()
    }

    /// Whether a file at the path begins with something else: then another program owns it.
    static func isOther(_ path: String, than head: [UInt8]) -> Bool {
        let reading = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard reading >= 0 else { return false }
        defer { close(reading) }
        var info = stat()
        guard fstat(reading, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return false }
        var start = [UInt8](repeating: 0, count: head.count)
        let count = pread(reading, &start, start.count, 0)
        return count < 0 || !head.starts(with: start[..<count])
    }

    /// Makes the file end with a line end. The file stays locked while it is open: otherwise another process could take
    /// a line that is being written for an unfinished one.
    private func endLastLine() throws(Fault) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
        let tail = lastPart()
        guard !tail.isEmpty else { return }
        let isTorn = tail.starts(with: head) || head.starts(with: tail)
        if isTorn, (try? JSON(parsing: tail)) == nil {
            guard ftruncate(descriptor, off_t(size - tail.count)) == 0 else {
                throw Fault(call: "ftruncate", code: errno)
            }
            size -= tail.count
        } else {
            guard write(descriptor, "\n", 1) == 1 else { throw Fault(call: "write", code: errno) }
            size += 1
        }
    }

    /// Returns the bytes after the last line end; none if the file cannot be read.
    private func lastPart() -> [UInt8] {
        let reading = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard reading >= 0 else { return [] }
        defer { close(reading) }
        var tail: [UInt8] = []
        var end = size
        while end > 0 {
            let start = max(0, end - (64 << 10))
            var block = [UInt8](repeating: 0, count: end - start)
            guard pread(reading, &block, block.count, off_t(start)) == block.count else { return [] }
            if let last = block.lastIndex(of: UInt8(ascii: "\n")) { return block[(last + 1)...] + tail }
            tail = block + tail
            end = start
        }
        return tail
    }

    private func rotate() throws(Fault) {
        shut()
        if kept == 0 {
            guard unlink(path) == 0 else { throw Fault(call: "unlink", code: errno) }
            return
        }
        for number in (1..<kept).reversed() where rename("\(path).\(number)", "\(path).\(number + 1)") != 0 {
            guard errno == ENOENT else { throw Fault(call: "rename", code: errno) }
        }
        guard rename(path, "\(path).1") == 0 else { throw Fault(call: "rename", code: errno) }
    }

    private func shut() {
        if descriptor >= 0 {
            // A child process that starts at this moment has the descriptor too until it runs its program.
            _ = flock(descriptor, LOCK_UN)
            close(descriptor)
        }
        descriptor = -1
    }
}
