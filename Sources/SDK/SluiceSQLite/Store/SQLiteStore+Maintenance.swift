internal import CSQLite
public import SluiceCore

extension SQLiteStore {
    /// Returns the properties and contents of the store's file. Every table is counted.
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
                        matching: TableQuery(schema.name), on: connection) ?? 0,
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

    /// Reads the whole file with each of its records, and checks that its contents are consistent: see
    /// ``LocalStore/checkConsistency()``.
    ///
    /// In an encrypted file the keyed hash of each page is checked too, so that no byte can have changed unseen.
    ///
    /// - Throws: ``SluiceError`` of a store code if the file cannot be read at all; `storeBusy` if a reader in another
    ///   process keeps the log of an encrypted one.
    public func check() async throws -> [StoreProblem] {
        let hashes = try await withWriter { connection in
            // The hashes cover only the file's pages. So newer pages must be moved from the log first, and the writer's
            // lock keeps others out.
            guard connection.isEncrypted else { return [String]() }
            return try connection.problems {
                guard try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
                    throw SluiceError(.storeBusy, "the store \(connection.path) is being read; try again")
                }
                // After 4 GiB some versions of SQLCipher look for each page in a wrong place. The check below still
                // reads those pages, which verifies their hashes; only free pages are left out.
                let size = try connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size")
                guard size <= 1 << 32 else { return [] }
                return try Array(connection.lines("PRAGMA cipher_integrity_check").prefix(100))
            }
        }
        let pages = try await withConnection { connection, _ in
            try connection.problems { try connection.damage(most: 100) }
        }
        var found = (hashes + pages).map { StoreProblem(.damagedFile, $0) }
        if found.isEmpty {
            found = try await withConnection { connection, _ in try connection.unreadableRecords(most: 100) }
        }
        do {
            return found + (try await checkConsistency())
        } catch {
            if found.isEmpty { throw error }
            return found
        }
    }

    /// Rewrites the file without its free pages. It needs as much room again while it works, and all others wait.
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
    /// Returns the findings of `body`. A failure that ends it is a finding too, unless another connection is in the
    /// way.
    fileprivate func problems(_ body: () throws -> [String]) throws -> [String] {
        do {
            return try body()
        } catch let error as SluiceError where error.code == .storeBusy {
            throw error
        } catch {
            return ["\((error as? SluiceError)?.cause ?? error)"]
        }
    }

    /// Checks the whole file, and returns the first fault in one line; nil if there is none.
    func firstDamage() throws -> String? {
        // SQLite names the database in a line of its own before a fault.
        try damage(most: 1).first.map { fault in
            let lines = fault.split(separator: "\n").filter { !$0.hasPrefix("***") }
            return lines.isEmpty ? fault : lines.joined(separator: "; ")
        }
    }

    /// Reads every record of every table, and returns those that cannot be read although the file is whole.
    func unreadableRecords(most: Int) throws -> [StoreProblem] {
        var problems: [StoreProblem] = []
        for schema in catalog.schemas.sorted(by: { $0.name < $1.name }) {
            guard let table = catalog.table(schema.name) else { continue }
            let statement = try statement("\(table.numberedSelectSQL) NOT INDEXED")
            defer { statement.reset() }
            while problems.count < most, try statement.step() {
                do {
                    guard try table.record(statement)["id"]?.string?.isEmpty == false else {
                        throw SluiceError(.storeCorrupt, "the record has no id")
                    }
                } catch let error as SluiceError {
                    let cause = (error.cause as? SluiceError)?.message ?? error.message
                    problems.append(
                        StoreProblem(
                            .unreadable, "the record cannot be read: \(cause)", table: schema.name,
                            recordID: error.recordID))
                }
            }
        }
        return problems
    }

    /// Checks the whole file, and returns SQLite's messages about its faults.
    fileprivate func damage(most: Int) throws -> [String] {
        let lines = try lines("PRAGMA integrity_check(\(most))")
        return lines.isEmpty ? ["the check says nothing"] : lines.filter { $0 != "ok" }
    }

    /// Returns the first column of each row, as text.
    fileprivate func lines(_ sql: String) throws -> [String] {
        try run(sql).compactMap { if case .text(let text)? = $0.first { text } else { nil } }
    }
}

/// The properties and contents of a store's file.
public struct StoreInfo: Sendable, Hashable, Encodable {
    /// A table of the store.
    public struct Table: Sendable, Hashable, Encodable {
        /// The table's name.
        public var name: String
        /// The number of its records.
        public var records: Int
        /// The number of declared columns.
        public var columns: Int
        /// The number of declared indexes.
        public var indexes: Int
        /// Whether it is one of the engine's own tables.
        public var isOwn: Bool

        private enum CodingKeys: String, CodingKey { case name, records, columns, indexes, isOwn = "own" }
    }

    /// The store's path, without symbolic links.
    public var path: String
    /// The version number of the file's format.
    public var format: Int
    /// Whether the file is encrypted.
    public var isEncrypted: Bool
    /// The library that opened the file, with its version.
    public var library: String
    /// The file's size in bytes.
    public var size: Int
    /// The number of free bytes in the file, which ``SQLiteStore/vacuum()`` would give back.
    public var free: Int
    /// The size of the write-ahead log in bytes.
    public var log: Int
    /// Whether anyone but its owner may read the file or its folder.
    public var isReadableByOthers: Bool
    /// The tables, by name.
    public var tables: [Table]

    private enum CodingKeys: String, CodingKey {
        case path, format, isEncrypted = "encrypted", library, size, free, log
        case isReadableByOthers = "readableByOthers", tables
    }
}
