internal import CSQLite
internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Rewrites a store with another key, with its first key or without one, and replaces the old file.
///
/// The new file is complete, synced and compared with the old one, row by row, before it takes the name, in one step.
/// The old one has no name from then on, and is overwritten through a descriptor that was opened before. So only the
/// draft's name is used, and a file of that name always belongs to the conversion.
struct StoreConversion {
    let path: String
    let source: StoreCipher?
    let target: StoreCipher?
    let options: SQLiteStore.Options
    let environment: SyncEnvironment

    /// The library that does the work: the encrypting one reads plain files too.
    private let library: SQLiteLibrary

    private var draft: String { path + Self.draftSuffix }
    /// A suffix that nobody gives a file by chance.
    static let draftSuffix = "-sluice-conversion"

    /// - Throws: ``SluiceError`` of code `invalidArgument` if neither side is encrypted.
    init(
        path: String, from source: StoreCipher?, to target: StoreCipher?, options: SQLiteStore.Options,
        environment: SyncEnvironment
    ) throws {
        guard let library = source?.library ?? target?.library else {
            throw SluiceError(
                .invalidArgument, "the store \(path) is not encrypted, and no key was given to encrypt it")
        }
        self.path = path
        self.source = source
        self.target = target
        self.options = options
        self.environment = environment
        self.library = library
    }

    /// Carries out the conversion. The store's lock and lease are held.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` if a connection is open to the store, here or elsewhere.
    func carryOut() async throws {
        if OpenStores.contains(path) {
            throw SluiceError(.storeBusy, "the store \(path) is open in this process; close it first")
        }
        Self.removeLeftovers(of: path)
        var info = stat()
        guard lstat(draft, &info) != 0 else {
            throw SluiceError(.storeInputOutput, "the file \(draft) is in the way; move it elsewhere")
        }
        do {
            try build()
            let old = try Shredder(path)
            try await environment.reached(.key, .before)
            try StoreFiles.move(draft, to: path)
            // Not before the new name is on the disk: after a power cut the old name would be back, with an overwritten
            // file.
            try StoreFiles.syncFolder(of: path)
            try await environment.reached(.key, .after)
            try old.overwrite()
        } catch {
            Self.removeLeftovers(of: path)
            throw error
        }
    }

    private func build() throws {
        // Opened first, so that the file can still be overwritten after SQLite removes its name.
        let log = access(path + "-wal", F_OK) == 0 ? try Shredder(path + "-wal") : nil
        let old = try connection(path, source)
        let format = try SQLiteStoreFile.checkFormat(of: old)
        try Self.checkWhole(old)
        // No other process may have it open, and no log may stand beside the file that takes the name.
        guard try old.run("PRAGMA journal_mode = DELETE").first?.first == .text("delete") else {
            throw SluiceError(.storeBusy, "the store \(path) is open in another process; close it there first")
        }
        try log?.overwrite()
        StoreFolder.makeFile(draft)
        try copy(old, format)
        try compare(old, with: connection(draft, target))
        try StoreFiles.giveOwner(of: path, to: draft)
        try StoreFiles.sync(draft)
    }

    private func connection(_ path: String, _ cipher: StoreCipher?) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: path, access: .readWrite, busyTimeout: options.busyTimeout, fileSystem: options.fileSystem,
            cipher: cipher, library: library)
        SQLiteStoreFile.keepLogAtClose(connection)
        return connection
    }

    static func checkWhole(_ connection: SQLiteConnection) throws {
        if let damage = try connection.firstDamage() {
            throw SluiceError(.storeCorrupt, "the store \(connection.path) is damaged: \(damage)")
        }
    }

    private func copy(_ old: SQLiteConnection, _ format: Int64) throws {
        let attach = try old.statement("ATTACH ? AS target KEY ?")
        try attach.bind(1, draft)
        // Bound without a copy, so that none is left in memory.
        try (target?.key ?? SecretBytes([])).withBytes { key in
            _ = attach.bindText(2, key.bindMemory(to: UInt8.self), copied: false)
            try attach.run()
            attach.reset()
        }
        if target != nil { try old.execute(StoreCipher.form(of: "target")) }
        // Some libraries are built to move pages at each commit. That is settled with the first page.
        try old.execute(
            "PRAGMA target.auto_vacuum = NONE; PRAGMA target.synchronous = EXTRA;"
                + "PRAGMA target.application_id = \(SQLiteStoreFile.applicationID);"
                + "PRAGMA target.user_version = \(format)")
        try old.run("SELECT sqlcipher_export('target')")
        try old.execute("DETACH target")
    }

    /// - Throws: ``SluiceError`` of code `storeCorrupt` if the copy is not whole or not the same.
    private func compare(_ old: SQLiteConnection, with new: SQLiteConnection) throws {
        try Self.checkWhole(new)
        let list = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
        let tables = try old.run(list)
        guard try new.run(list) == tables else { throw differs() }
        for case (.text("table"), .text(let name)) in tables.map({ ($0[0], $0[1]) }) {
            let sql = "SELECT * FROM \(SQLDialect.sqlite.quoted(name)) ORDER BY rowid"
            let (left, right) = (try old.statement(sql), try new.statement(sql))
            defer {
                left.reset()
                right.reset()
            }
            while try left.step() {
                guard try right.step(),
                    (0..<left.columnCount).allSatisfy({ left.value($0) == right.value($0) })
                else { throw differs() }
            }
            if try right.step() { throw differs() }
        }
    }

    private func differs() -> SluiceError {
        SluiceError(.storeCorrupt, "the store \(path) was not written anew as it is; the old one stays")
    }
}

// MARK: Files

extension StoreConversion {
    /// Overwrites and removes the files that an interrupted conversion has left beside the store. A file that cannot be
    /// removed stays: it blocks only the next conversion.
    static func removeLeftovers(of path: String) {
        let draft = path + draftSuffix
        for name in ["-journal", "-wal", "-shm", ""].map({ draft + $0 }) {
            var info = stat()
            // A conversion creates files, never links to others' files.
            guard access(path, F_OK) == 0, lstat(name, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { continue }
            let shredder = try? Shredder(name)
            if unlink(name) == 0 { try? shredder?.overwrite() }
        }
    }
}

/// A file that is to be overwritten once it has no name any more. A file system or a disk that writes elsewhere keeps
/// the old content nevertheless.
private struct Shredder {
    private let file: OpenFile
    private let path: String

    init(_ path: String) throws {
        self.path = path
        file = try StoreFiles.calling("overwrite", path) { () throws(SystemFailure) in
            try OpenFile(path, [.writing, .withoutLinks])
        }
    }

    /// Writes zeros over the file, unless it still has a name: a hard link is somebody's own copy.
    func overwrite() throws {
        try StoreFiles.calling("overwrite", path) { () throws(SystemFailure) in
            let status = try file.status()
            guard status.links == 0 else { return }
            let zeros = [UInt8](repeating: 0, count: 1 << 16)
            for start in stride(from: 0, to: status.size, by: zeros.count) {
                try file.write(Array(zeros.prefix(status.size - start)), at: start)
            }
            try file.sync()
        }
    }
}
