internal import CSQLite
internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Secret bytes on memory pages of their own. If the system allows it, these are not swapped out and in no core dump.
/// They are wiped when the last owner releases them.
///
/// They are written once, before anyone else has them; therefore the type may be unchecked `Sendable`.
final class SecretBytes: @unchecked Sendable {
    let count: Int
    private let pages: UnsafeMutableRawBufferPointer

    /// Allocates so many bytes, filled by `body`.
    init(count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let size = Int(sysconf(Int32(_SC_PAGESIZE)))
        let length = max(1, (count + size - 1) / size) * size
        let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else {
            throw SluiceError(.storeInputOutput, "there is no memory for a key (\(String(cString: strerror(errno))))")
        }
        pages = UnsafeMutableRawBufferPointer(start: memory, count: length)
        self.count = count
        // Neither is essential, and both may be forbidden to the process.
        _ = mlock(memory, length)
        #if os(Linux)
            _ = madvise(memory, length, Int32(MADV_DONTDUMP))
        #endif
        try body(UnsafeMutableRawBufferPointer(rebasing: pages[..<count]))
    }

    /// Copies bytes.
    convenience init(_ bytes: some Collection<UInt8>) throws {
        try self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    deinit {
        guard let start = pages.baseAddress else { return }
        csqlite_wipe(start, UInt64(pages.count))
        munmap(start, pages.count)
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(rebasing: pages[..<count]))
    }
}

/// Secrets as hexadecimal digits.
enum SecretText {
    /// Returns two digits for each byte.
    static func hexadecimal(_ bytes: SecretBytes) throws -> SecretBytes {
        try SecretBytes(count: 2 * bytes.count) { place in
            bytes.withBytes { write($0, to: place, at: 0) }
        }
    }

    /// Returns the literal of a key that SQLCipher must not derive again. The salt of the file follows it, unless
    /// SQLCipher is to choose one.
    static func keyLiteral(_ key: SecretBytes, salt: [UInt8] = []) throws -> SecretBytes {
        try SecretBytes(count: 3 + 2 * (key.count + salt.count)) { place in
            place[0] = UInt8(ascii: "x")
            place[1] = UInt8(ascii: "'")
            key.withBytes { write($0, to: place, at: 2) }
            salt.withUnsafeBytes { write($0, to: place, at: 2 + 2 * key.count) }
            place[place.count - 1] = UInt8(ascii: "'")
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to place: UnsafeMutableRawBufferPointer, at start: Int) {
        for (index, byte) in bytes.enumerated() {
            place[start + 2 * index] = Base16.digit(byte >> 4)
            place[start + 2 * index + 1] = Base16.digit(byte & 0xF)
        }
    }
}

/// Files that hold a key or a passphrase.
enum SecretFile {
    /// The largest size that is read, in bytes.
    static let maximumSize = 4096

    /// Returns the content of the file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a file that is readable for everyone, empty or too long,
    ///   `storeInputOutput` if it cannot be read.
    static func content(of path: String) throws -> SecretBytes {
        let file = try calling(path, "read") { () throws(SystemFailure) in try OpenFile(path) }
        let status = try calling(path, "read") { () throws(SystemFailure) in try file.status() }
        guard !status.isFile || status.permissions & 0o007 == 0 else {
            throw SluiceError(
                .invalidArgument, "everyone may read or write the file \(path), which is to be secret; chmod 600 it")
        }
        var count = 0
        // A pipe has no size, so the largest allowed size is read.
        let content = try SecretBytes(count: maximumSize + 1) { place in
            count = try calling(path, "read") { () throws(SystemFailure) in try file.fill(place) }
        }
        guard (1...maximumSize).contains(count) else {
            throw SluiceError(.invalidArgument, "the file \(path) has to have 1 to \(maximumSize) bytes")
        }
        return try content.withBytes { try SecretBytes($0[..<count]) }
    }

    /// Creates the file, for its owner only.
    static func make(_ bytes: SecretBytes, at path: String) throws {
        let draft = try calling(path, "made") { () throws(SystemFailure) in try FileDraft(of: path) }
        do {
            try bytes.withBytes { bytes in
                try calling(path, "written") { () throws(SystemFailure) in
                    try draft.file.write(bytes)
                    try draft.finish()
                }
            }
        } catch {
            draft.discard()
            throw error
        }
    }

    private static func calling<Result>(
        _ path: String, _ what: String, _ body: () throws(SystemFailure) -> Result
    ) throws(SluiceError) -> Result {
        do throws(SystemFailure) {
            return try body()
        } catch {
            throw SluiceError(.storeInputOutput, "the file \(path) cannot be \(what) (\(error.reason))")
        }
    }
}
