internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Files that hold a key or a passphrase.
enum SecretFile {
    /// The largest size that is read, in bytes.
    static let maximumSize = 4096

    /// Returns the content of the file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a file that is readable for everyone, empty or too long,
    ///   `storeInputOutput` if it cannot be read.
    static func content(of path: String) throws -> SecretBytes {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "read") }
        defer { _ = close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw failure(path, "read") }
        let isFile = info.st_mode & S_IFMT == S_IFREG
        guard !isFile || info.st_mode & 0o007 == 0 else {
            throw SluiceError(
                .invalidArgument, "everyone may read or write the file \(path), which is to be secret; chmod 600 it")
        }
        var count = 0
        // A pipe has no size, so the largest allowed size is read.
        let content = try SecretBytes(count: maximumSize + 1) { place in
            while count < place.count, let rest = place.baseAddress.map({ $0 + count }) {
                let more = read(descriptor, rest, place.count - count)
                if more == 0 { break }
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { throw failure(path, "read") }
                count += more
            }
        }
        guard (1...maximumSize).contains(count) else {
            throw SluiceError(.invalidArgument, "the file \(path) has to have 1 to \(maximumSize) bytes")
        }
        return try content.withBytes { try SecretBytes($0[..<count]) }
    }

    /// Creates the file, for its owner only.
    static func make(_ bytes: SecretBytes, at path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path, "made") }
        defer { _ = close(descriptor) }
        do {
            try fill(descriptor, with: bytes, path)
            try StoreFiles.syncFolder(of: path)
        } catch {
            // A partly written key opens nothing, and would block the whole one.
            unlink(path)
            throw error
        }
    }

    private static func fill(_ descriptor: Int32, with bytes: SecretBytes, _ path: String) throws {
        try bytes.withBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw failure(path, "written") }
                rest = rest.dropFirst(written)
            }
        }
        guard fsync(descriptor) == 0 else { throw failure(path, "written") }
    }

    private static func failure(_ path: String, _ what: String) -> SluiceError {
        SluiceError(
            .storeInputOutput, "the file \(path) cannot be \(what) (\(String(cString: strerror(errno))))")
    }
}
