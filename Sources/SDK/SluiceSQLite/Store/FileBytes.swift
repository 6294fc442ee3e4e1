internal import SluiceCore

/// A database file as bytes, for files that SQLite does not recognize any more.
enum FileBytes {
    /// The first bytes of an unencrypted database (sqlite.org/fileformat2.html, section 1.3).
    static let magic = Array("SQLite format 3\u{0}".utf8)

    /// Whether the file is an encrypted database, whole or damaged, judged without its key: at least half of its pages,
    /// sampled up to 64 times over the file, look random. Pages of zeros do not count, nor does a rest that is too
    /// short to judge.
    ///
    /// An encrypted page fails to look random less than once in ten million times. A plain one has zeros, types of
    /// values and text, and so some byte ten times as often as a random one; text in base 64 has each of its bytes four
    /// times as often. So damage has to replace half of a file before it is taken for the other kind. In that case a
    /// plain one is refused and stays as it is, which costs least.
    static func looksEncrypted(_ path: String) -> Bool {
        guard let file = try? OpenFile(path), let size = try? file.status().size else { return false }
        let page = 4096
        let count = (size + page - 1) / page
        let samples = min(count, 64)
        guard samples > 0 else { return false }
        var (random, others) = (0, 0)
        for sample in 0..<samples {
            // The first and the last page are among the samples.
            let number = sample * (count - 1) / max(1, samples - 1)
            guard let found = try? file.read(upTo: page, at: number * page), found.count >= 1024,
                found.contains(where: { $0 != 0 })
            else { continue }
            if looksRandom(found) { random += 1 } else { others += 1 }
        }
        return random > 0 && random >= others
    }

    /// Whether no byte value occurs much more often than in random bytes: by eight standard deviations.
    private static func looksRandom(_ bytes: [UInt8]) -> Bool {
        var counts = [Int](repeating: 0, count: 256)
        for byte in bytes { counts[Int(byte)] += 1 }
        let mean = Double(bytes.count) / 256
        return Double(counts.max() ?? 0) <= mean + 8 * mean.squareRoot()
    }

    static func read(_ path: String) throws -> [UInt8] {
        do throws(SystemFailure) {
            return try OpenFile(path).read(upTo: .max)
        } catch {
            throw failure(path, error)
        }
    }

    /// Returns the first bytes of the file; fewer if it is shorter, none if it cannot be read.
    static func start(of path: String, count: Int) -> [UInt8] { (try? OpenFile(path).read(upTo: count)) ?? [] }

    static func write(_ bytes: [UInt8], to path: String) throws {
        do throws(SystemFailure) {
            let file = try OpenFile(path, [.writing, .creating, .emptying], mode: 0o666)
            try file.write(bytes)
            try file.sync()
        } catch {
            throw failure(path, error)
        }
    }

    /// Copies the file; a missing one becomes an empty one.
    static func copy(_ from: String, to: String) throws {
        try write(StoreFolder.exists(from) ? read(from) : [], to: to)
    }

    /// Overwrites the first 100 bytes of the file with the header of a store.
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

    private static func failure(_ path: String, _ failure: SystemFailure) -> SluiceError {
        SluiceError(.storeInputOutput, "\(path) cannot be read or written (\(failure.reason))")
    }
}
