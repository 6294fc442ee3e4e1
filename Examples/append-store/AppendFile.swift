internal import Glibc
internal import SluiceCore
internal import Synchronization

/// The file: a first line that says what it is, then one JSON document a line, each behind a checksum.
final class AppendFile: Sendable {
    /// What the lines so far have declared.
    let schemas = Mutex<[String: TableSchema]>([:])

    private static let header = "sluice append store 1\n"
    private let path: String
    /// The open file, and how much of it counts.
    private let state: Mutex<(descriptor: Int32, length: Int)>

    init(path: String) throws {
        self.path = path
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("opened", path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            _ = Glibc.close(descriptor)
            throw SluiceError(.storeBusy, "the store \(path) is open elsewhere")
        }
        state = Mutex((descriptor, 0))
    }

    deinit { close() }

    func close() {
        state.withLock { state in
            if state.descriptor >= 0 { _ = Glibc.close(state.descriptor) }
            state.descriptor = -1
        }
    }

    /// The documents, up to the first line that is not whole; what is behind them is cut off.
    func lines() throws -> [JSON] {
        try state.withLock { state in
            let bytes = try Self.content(state.descriptor, path)
            if bytes.isEmpty {
                state.length = try Self.write(Array(Self.header.utf8), to: state.descriptor, at: 0, path)
                return []
            }
            guard bytes.starts(with: Self.header.utf8) else {
                throw SluiceError(.storeNotADatabase, "\(path) is no append store; it was left as it is")
            }
            var documents: [JSON] = []
            var start = Self.header.utf8.count
            while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                guard let document = Self.document(bytes[start..<end]) else { break }
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
            do {
                state.length += try Self.write(Self.line(document), to: state.descriptor, at: state.length, path)
            } catch {
                _ = ftruncate(state.descriptor, off_t(state.length))
                throw error
            }
        }
    }

    /// Writes a new file with those documents, and puts it in the place of this one.
    func replace(with documents: [JSON]) throws {
        let draft = path + ".new"
        let descriptor = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw Self.failure("made", draft) }
        var length = 0
        for line in [Array(Self.header.utf8)] + documents.map(Self.line) {
            length += try Self.write(line, to: descriptor, at: length, draft)
        }
        guard rename(draft, path) == 0 else { throw Self.failure("replaced", path) }
        state.withLock { [length] state in
            _ = Glibc.close(state.descriptor)
            state = (descriptor, length)
        }
    }

    // MARK: Lines

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

    // MARK: Bytes

    private static func content(_ descriptor: Int32, _ path: String) throws -> [UInt8] {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw failure("read", path) }
        var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done, off_t(done))
            }
            guard count > 0 else { throw failure("read", path) }
            done += count
        }
        return bytes
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, at place: Int, _ path: String) throws -> Int {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done, off_t(place + done))
            }
            guard count > 0 else { throw failure("written", path) }
            done += count
        }
        guard fsync(descriptor) == 0 else { throw failure("written", path) }
        return bytes.count
    }

    private static func failure(_ what: String, _ path: String) -> SluiceError {
        let code: SluiceError.Code = errno == ENOSPC ? .storeFull : .storeInputOutput
        return SluiceError(code, "the store \(path) cannot be \(what) (\(String(cString: strerror(errno))))")
    }
}
