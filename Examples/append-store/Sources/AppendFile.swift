internal import Foundation
internal import Glibc
internal import SluiceCore
internal import Synchronization

/// The file: a first line that says what it is, then one JSON document a line, each after a checksum.
final class AppendFile: Sendable {
    private static let header = "sluice append store 1\n"
    private let path: String
    /// The open file, and how much of it counts.
    private let state: Mutex<(descriptor: Int32, length: Int)>

    init(path: String) throws {
        self.path = path
        state = try Mutex((Self.locked(path), 0))
    }

    /// Opens and locks the file of that name: another is there if one was put in its place before the lock was free.
    private static func locked(_ path: String) throws -> Int32 {
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw failure("opened", path) }
            let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
            var (mine, named) = (stat(), stat())
            let isFound = fstat(descriptor, &mine) == 0 && stat(path, &named) == 0
            if isLocked, isFound, mine.st_ino == named.st_ino, mine.st_dev == named.st_dev { return descriptor }
            _ = Glibc.close(descriptor)
            if !isLocked { throw SluiceError(.storeBusy, "the store \(path) is open elsewhere") }
        }
    }

    deinit { close() }

    func close() {
        state.withLock { state in
            if state.descriptor >= 0 {
                // A child process that begins at this moment has the descriptor too until it runs its program.
                _ = flock(state.descriptor, LOCK_UN)
                _ = Glibc.close(state.descriptor)
            }
            state.descriptor = -1
        }
    }

    /// The documents. A last line that is not whole was torn while it was written: it goes; one before it is damage.
    func lines() throws -> [JSON] {
        try state.withLock { state in
            let bytes = try Self.content(state.descriptor, path)
            if Self.header.utf8.starts(with: bytes) {
                state.length = try Self.write(Array(Self.header.utf8), to: state.descriptor, at: 0, path)
                try Self.syncFolder(of: path)
                return []
            }
            guard bytes.starts(with: Self.header.utf8) else {
                throw SluiceError(.storeNotADatabase, "\(path) is no append store; it was left as it is")
            }
            var (documents, start) = ([JSON](), Self.header.utf8.count)
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                guard let document = Self.document(bytes[start..<end]) else {
                    if end + 1 == bytes.count { break }
                    throw SluiceError(.storeCorrupt, "a line of \(path) is damaged; the file was left as it is")
                }
                documents.append(document)
                start = end + 1
            }
            guard ftruncate(state.descriptor, off_t(start)) == 0 else { throw Self.failure("cut", path) }
            state.length = start
            return documents
        }
    }

    /// Adds a document; it is on the disk when this returns, and not in the file if it throws.
    func append(_ document: JSON) throws {
        try state.withLock { state in
            guard state.descriptor >= 0 else { throw SluiceError(.storeClosed, "the store \(path) is closed") }
            defer { _ = ftruncate(state.descriptor, off_t(state.length)) }
            state.length += try Self.write(Self.line(document), to: state.descriptor, at: state.length, path)
        }
    }

    /// Writes a new file with those documents, and puts it in the place of this one.
    func replace(with documents: [JSON]) throws {
        let draft = path + ".new"
        let descriptor = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        var unused = descriptor
        defer { _ = Glibc.close(unused) }
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw Self.failure("made", draft) }
        let bytes = Array(Self.header.utf8) + documents.flatMap(Self.line)
        let length = try Self.write(bytes, to: descriptor, at: 0, draft)
        guard rename(draft, path) == 0 else { throw Self.failure("replaced", path) }
        unused = state.withLock { state in
            defer { state = (descriptor, length) }
            return state.descriptor
        }
        try Self.syncFolder(of: path)
    }

    private static func line(_ document: JSON) -> [UInt8] {
        let text = Array(document.description.utf8)
        return Array("\(checksum(text)) ".utf8) + text + [UInt8(ascii: "\n")]
    }

    private static func document(_ line: ArraySlice<UInt8>) -> JSON? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let text = Array(line[(space + 1)...])
        guard line[..<space].elementsEqual("\(checksum(text))".utf8) else { return nil }
        return try? JSON(parsing: text)
    }

    /// FNV-1a, 64 bits.
    private static func checksum(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private static func content(_ file: Int32, _ path: String) throws -> [UInt8] {
        let handle = FileHandle(fileDescriptor: file)
        do {
            try handle.seek(toOffset: 0)
            return Array(try handle.readToEnd() ?? Data())
        } catch {
            throw failure("read", path)
        }
    }

    private static func write(_ bytes: [UInt8], to file: Int32, at place: Int, _ path: String) throws -> Int {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file, $0.baseAddress.map { $0 + done }, $0.count - done, off_t(place + done))
            }
            guard count > 0 else { throw failure("written", path) }
            done += count
        }
        guard fsync(file) == 0 else { throw failure("written", path) }
        return bytes.count
    }

    /// Has the disk know the file under its name: without that a power cut may leave the one before it there.
    private static func syncFolder(of path: String) throws {
        let folder = open(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", O_RDONLY | O_CLOEXEC)
        defer { _ = Glibc.close(folder) }
        guard folder >= 0, fsync(folder) == 0 else { throw failure("kept", path) }
    }

    private static func failure(_ what: String, _ path: String) -> SluiceError {
        let code: SluiceError.Code = errno == ENOSPC ? .storeFull : .storeInputOutput
        return SluiceError(code, "the store \(path) cannot be \(what) (\(String(cString: strerror(errno))))")
    }
}
