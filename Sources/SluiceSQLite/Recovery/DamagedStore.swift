internal import CSQLite
internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A store's file that may be damaged: how that is found out, and how a new one takes its place.
///
/// The new store is complete before the damaged one is moved, so that a process that ends in between leaves either the
/// damaged store or both.
struct DamagedStore: Sendable {
    let file: SQLiteStoreFile

    private var path: String { file.path }
    /// Where the new store is made.
    private var draft: String { path + "-rescued" }

    /// What is damaged, in SQLite's words; nil for a store in which nothing was found, for a file that is not there,
    /// and for what is no store of this format.
    func damage() throws -> String? {
        if size(path) == 0 {
            return size(path + "-wal") > 0 ? "the file is empty, and its log is not" : nil
        }
        do {
            let connection = try file.openReader()
            let application = try connection.integer("PRAGMA application_id")
            if application != SQLiteStoreFile.applicationID {
                let own = try connection.integer(
                    "SELECT count(*) FROM sqlite_schema WHERE name IN ('sluice_schema', 'sluice_operations')")
                return own == 2 ? "the file's application id is \(application)" : nil
            }
            if try connection.integer("PRAGMA user_version") > SQLiteStoreFile.format { return nil }
            let found = try connection.run("PRAGMA integrity_check(1)").first?.first
            if found != .text("ok") { return found.map { "\($0)" } ?? "the check says nothing" }
            try connection.catalog.refresh(connection)
            return nil
        } catch let error as SluiceError where Self.isDamage(error) {
            return error.cause.map { "\($0)" } ?? error.message
        }
    }

    private static func isDamage(_ error: SluiceError) -> Bool {
        [.storeCorrupt, .storeNotADatabase].contains(error.code)
            || (error.code == .storeSchema && (error.cause as? SQLiteFailure)?.code != nil)
    }

    // MARK: Rescuing

    /// What can be read of the queue, with the log and, where nothing can, without it.
    func rescue() throws -> RescuedQueue {
        // SQLite removes the log of a file that is empty.
        let isEmpty = size(path) == 0
        if !isEmpty, let found = try? RescueReader(file.openReader()).queue() { return found }
        // Only the first 100 bytes may be damaged (sqlite.org/fileformat2.html, section 1.3): a copy gets others.
        let copy = path + "-copy"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(copy + suffix) } }
        for withLog in [true, false] {
            try FileBytes.copy(path, to: copy)
            if withLog, size(path + "-wal") > 0 {
                try FileBytes.copy(path + "-wal", to: copy + "-wal")
            } else {
                unlink(copy + "-wal")
            }
            unlink(copy + "-shm")
            let reader = SQLiteStoreFile(path: copy, options: file.options)
            if !isEmpty, let found = try? RescueReader(reader.openReader()).queue() { return found }
            try FileBytes.repairHeader(of: copy)
            if let found = try? RescueReader(reader.openReader()).queue() { return found }
        }
        return RescuedQueue()
    }

    // MARK: Replacing

    /// Makes the new store beside the damaged one.
    func build(_ queue: RescuedQueue) async throws {
        let temporary = draft + ".tmp"
        for suffix in ["", "-wal", "-shm"] { unlink(temporary + suffix) }
        let store = try SQLiteStore(path: temporary, options: file.options)
        try await store.define(queue.schemas)
        try await store.write { writer in
            for (table, record) in queue.records { try writer.put(record, in: table) }
        }
        try await store.close()
        for suffix in ["-wal", "-shm", "-lock"] { unlink(temporary + suffix) }
        try move(temporary, to: draft)
    }

    /// Moves the damaged store aside and the new one into its place, and says where the damaged one is now.
    func replace(at time: Timestamp) throws -> String {
        let stamp = time.text(fractionDigits: 3).filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        let aside = "\(path).damaged-\(stamp)"
        for suffix in ["", "-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
            try move(path + suffix, to: aside + suffix)
        }
        try move(draft, to: path)
        return aside
    }

    /// Ends a replacement that a process left when the damaged store was moved and the new one was not.
    func finishReplacement() throws {
        if access(path, F_OK) != 0, access(draft, F_OK) == 0 {
            for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
            try move(draft, to: path)
        }
    }

    private func move(_ from: String, to: String) throws {
        guard rename(from, to) == 0 else {
            throw SluiceError(
                .storeInputOutput, "\(from) cannot be renamed to \(to) (\(String(cString: strerror(errno))))")
        }
    }

    /// The file's size in bytes; 0 for none.
    private func size(_ path: String) -> Int {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) : 0
    }
}
