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

    /// Whether the file is an encrypted database, whole or damaged, as far as can be told without its key: at least
    /// half of its pages, of up to 64 that are spread over it, look random. Pages of zeros do not count, nor does a rest
    /// that is too short to tell.
    ///
    /// An encrypted page fails to look random less than once in ten million times. A plain one has zeros, types of
    /// values and text, and so of some byte ten times as many as a random one; text in base 64 has four times as many of
    /// all its bytes. So damage has to replace half of a file before it is taken for the other kind. Where it does, a
    /// plain one is refused and stays as it is, which costs least.
    static func looksEncrypted(_ path: String) -> Bool {
        guard let file = fopen(path, "rb") else { return false }
        defer { fclose(file) }
        guard fseek(file, 0, SEEK_END) == 0 else { return false }
        let page = 4096
        let count = (ftell(file) + page - 1) / page
        let samples = min(count, 64)
        guard samples > 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: page)
        var (random, others) = (0, 0)
        for sample in 0..<samples {
            // The first page and the last are among them.
            let number = sample * (count - 1) / max(1, samples - 1)
            guard fseek(file, number * page, SEEK_SET) == 0 else { continue }
            let length = fread(&bytes, 1, page, file)
            let found = bytes[..<length]
            guard found.count >= 1024, found.contains(where: { $0 != 0 }) else { continue }
            if looksRandom(found) { random += 1 } else { others += 1 }
        }
        return random > 0 && random >= others
    }

    /// Whether no byte is there much more often than it would be among random ones: by eight standard deviations.
    private static func looksRandom(_ bytes: ArraySlice<UInt8>) -> Bool {
        var counts = [Int](repeating: 0, count: 256)
        for byte in bytes { counts[Int(byte)] += 1 }
        let mean = Double(bytes.count) / 256
        return Double(counts.max() ?? 0) <= mean + 8 * mean.squareRoot()
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
