internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A database file as bytes, for what SQLite does not take for a database any more.
enum FileBytes {
    /// What a database begins with that is not encrypted (sqlite.org/fileformat2.html, section 1.3).
    static let magic = Array("SQLite format 3\u{0}".utf8)

    /// Whether the file is made of whole pages of bytes that look random, as all pages of an encrypted one do. A
    /// database that is damaged has others too.
    static func looksEncrypted(_ path: String) -> Bool {
        guard let file = fopen(path, "rb"), fseek(file, 0, SEEK_END) == 0 else { return false }
        defer { fclose(file) }
        let page = 4096
        let size = ftell(file)
        guard size > 0, size % page == 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: page)
        return [0, size / page / 2, size / page - 1].allSatisfy { number in
            guard fseek(file, number * page, SEEK_SET) == 0, fread(&bytes, 1, page, file) == page else { return false }
            // Of 4096 random bytes, 20 values or more are missing about once in 10¹⁸ times.
            return Set(bytes).count > 236
        }
    }

    static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "rb") else { throw failure(path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 {
                // A file that the disk gives in part is not one that ends there.
                guard ferror(file) == 0 else { throw failure(path) }
                return bytes
            }
            bytes += buffer[..<count]
        }
    }

    /// The first bytes of the file; fewer where it is shorter, none where it cannot be read.
    static func start(of path: String, count: Int) -> [UInt8] {
        guard let file = fopen(path, "rb") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = fread(&bytes, 1, count, file)
        return Array(bytes[..<read])
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "wb") else { throw failure(path) }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw failure(path) }
    }

    /// Copies the file; one that is not there becomes an empty one.
    static func copy(_ from: String, to: String) throws {
        try write(access(from, F_OK) == 0 ? read(from) : [], to: to)
    }

    /// Gives the file the header that a store has, in place of whatever is in its first 100 bytes.
    static func repairHeader(of path: String) throws {
        var bytes = try read(path)
        let size = 4096
        if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
        bytes.replaceSubrange(0..<100, with: header(pages: UInt32(clamping: bytes.count / size)))
        // A first page without a table in it would be refused: 13 is a leaf of a table.
        if bytes[100] != 13 && bytes[100] != 5 { bytes.replaceSubrange(100..<108, with: [13, 0, 0, 0, 0, 0x10, 0, 0]) }
        try write(bytes, to: path)
    }

    /// sqlite.org/fileformat2.html, section 1.3, for pages of 4096 bytes, UTF-8 and a write-ahead log.
    private static func header(pages: UInt32) -> [UInt8] {
        func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        var header = magic
        header += [0x10, 0, 2, 2, 0, 64, 32, 32]
        // The change counter and the size belong together: the size counts only beside an equal counter at the end.
        header += big(1) + big(pages) + big(0) + big(0) + big(1) + big(4) + big(0) + big(0) + big(1)
        header += big(UInt32(truncatingIfNeeded: SQLiteStoreFile.format)) + big(0)
        header += big(UInt32(truncatingIfNeeded: SQLiteStoreFile.applicationID))
        header += [UInt8](repeating: 0, count: 20) + big(1) + big(3_040_000)
        return header
    }

    private static func failure(_ path: String) -> SluiceError {
        SluiceError(.storeInputOutput, "\(path) cannot be read or written (\(String(cString: strerror(errno))))")
    }
}
