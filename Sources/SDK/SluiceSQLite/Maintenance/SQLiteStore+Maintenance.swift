internal import CSQLite
public import SluiceCore

extension SQLiteStore {
    /// What the store's file is and holds. Every table is counted.
    ///
    /// - Throws: ``SluiceError`` of a store code.
    public func info() async throws -> StoreInfo {
        try await withConnection { connection, path in
            let page = try connection.integer("PRAGMA page_size")
            let own = Set(SyncTables.all.map(\.name))
            let tables = try connection.catalog.schemas.sorted { $0.name < $1.name }.map { schema in
                StoreInfo.Table(
                    name: schema.name,
                    records: try connection.catalog.table(schema.name)?.count(
                        matching: Query(schema.name), on: connection) ?? 0,
                    columns: schema.columns.count, indexes: schema.indexes.count, isOwn: own.contains(schema.name))
            }
            let cipher = connection.isEncrypted ? connection.cipherVersion : ""
            let library = "SQLite \(String(cString: connection.api.pointee.libversion()))"
            return StoreInfo(
                path: path, format: Int(try connection.integer("PRAGMA user_version")),
                isEncrypted: connection.isEncrypted,
                library: cipher.isEmpty ? library : "SQLCipher \(cipher) (\(library))",
                size: Int(try connection.integer("PRAGMA page_count") * page),
                free: Int(try connection.integer("PRAGMA freelist_count") * page),
                log: StoreFolder.size(of: path + "-wal"), isReadableByOthers: StoreFolder.isReadableByOthers(path),
                tables: tables)
        }
    }

    /// Reads the whole file, and looks whether what is in it fits together: see ``LocalStore/checkConsistency()``.
    ///
    /// Of an encrypted file the keyed hash of each page is checked too, so that no byte can have changed unseen.
    ///
    /// - Throws: ``SluiceError`` of a store code where the file cannot be read at all; `storeBusy` where a reader in
    ///   another process keeps the log of an encrypted one.
    public func check() async throws -> [StoreProblem] {
        let hashes = try await withWriter { connection in
            // Those are of the pages in the file. What is newer in the log has to be there first, and nobody moves more
            // of it meanwhile.
            guard connection.isEncrypted else { return [String]() }
            return try connection.problems {
                guard try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
                    throw SluiceError(.storeBusy, "the store \(connection.path) is being read; try again")
                }
                // After 4 GiB some versions of SQLCipher look for each page in a wrong place. Those pages are read all
                // the same below, which checks their hashes too; only free ones are not.
                let size = try connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size")
                guard size <= 1 << 32 else { return [] }
                return try Array(connection.lines("PRAGMA cipher_integrity_check").prefix(100))
            }
        }
        let pages = try await withConnection { connection, _ in
            try connection.problems { try connection.damage(most: 100) }
        }
        let found = (hashes + pages).map { StoreProblem(.damagedFile, $0) }
        do {
            return found + (try await checkConsistency())
        } catch {
            if found.isEmpty { throw error }
            return found
        }
    }

    /// Writes the file anew without what is free in it. It takes as much room again while it works, and everyone else
    /// waits.
    ///
    /// - Throws: ``SluiceError`` of a store code; the store then is as it was.
    public func vacuum() async throws {
        try await withWriter { connection in
            try connection.execute("VACUUM")
            _ = connection.checkpoint(Int32(CSQLITE_CHECKPOINT_TRUNCATE))
        }
    }
}

extension SQLiteConnection {
    /// What `body` finds, and the failure that ends it unless somebody else is in the way.
    fileprivate func problems(_ body: () throws -> [String]) throws -> [String] {
        do {
            return try body()
        } catch let error as SluiceError where error.code == .storeBusy {
            throw error
        } catch {
            return ["\((error as? SluiceError)?.cause ?? error)"]
        }
    }

    /// Checks the whole file, and returns the first fault in one line; nil where there is none.
    func firstDamage() throws -> String? {
        // Before a fault SQLite names the database in a line of its own.
        try damage(most: 1).first.map { fault in
            let lines = fault.split(separator: "\n").filter { !$0.hasPrefix("***") }
            return lines.isEmpty ? fault : lines.joined(separator: "; ")
        }
    }

    /// Checks the whole file, and returns what SQLite says of its faults.
    fileprivate func damage(most: Int) throws -> [String] {
        let lines = try lines("PRAGMA integrity_check(\(most))")
        return lines.isEmpty ? ["the check says nothing"] : lines.filter { $0 != "ok" }
    }

    /// The first column of each row, as text.
    fileprivate func lines(_ sql: String) throws -> [String] {
        try run(sql).compactMap { if case .text(let text)? = $0.first { text } else { nil } }
    }
}

/// What a store's file is and holds.
public struct StoreInfo: Sendable, Hashable {
    /// A table of the store.
    public struct Table: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// How many records it has.
        public var records: Int
        /// How many columns are declared.
        public var columns: Int
        /// How many indexes are declared.
        public var indexes: Int
        /// Whether the engine keeps it for itself.
        public var isOwn: Bool
    }

    /// The store's path, without symbolic links.
    public var path: String
    /// The number of the format.
    public var format: Int
    /// Whether it is encrypted.
    public var isEncrypted: Bool
    /// The library that it is opened with, and its version.
    public var library: String
    /// The file's size in bytes.
    public var size: Int
    /// How many bytes of the file are free, and would be given back by ``SQLiteStore/vacuum()``.
    public var free: Int
    /// The size of the write-ahead log in bytes.
    public var log: Int
    /// Whether anyone but its owner may read the file or its folder.
    public var isReadableByOthers: Bool
    /// The tables, by name.
    public var tables: [Table]
}
