internal import SluiceCore
internal import SluiceSQLite
internal import Synchronization

/// Records in a SQLite file. One connection writes, others read beside it, each on a queue of its own.
final class SQLiteStorage: Storage {
    private let writer: SQLiteWorker
    private let readers: [SQLiteWorker]
    /// Nil for a database in memory.
    private let file: DatabaseFile?
    /// How many reads each reader has to do.
    private let loads: Mutex<[Int]>
    /// Where the last commit is noted; nil for a database in memory, of which there is no backup.
    let markFile: LastCommitFile?
    private let committed = CommitAction()

    /// Has `action` called after each commit from now on.
    func onCommit(_ action: @escaping @Sendable () -> Void) { committed.set(action) }

    init(path: String) {
        let file = path == ":memory:" ? nil : DatabaseFile(path)
        self.file = file
        markFile = file.map { LastCommitFile(databasePath: $0.path) }
        writer = SQLiteWorker(label: "sluice.backend.writer") {
            let connection = try file?.open() ?? SQLiteConnection(path: path)
            if file != nil {
                // What is no database of ours is found out before anything is written to it.
                _ = try connection.integer("PRAGMA application_id")
                guard try connection.run("PRAGMA journal_mode = WAL").first?.first == .text("wal") else {
                    throw SluiceError(
                        .storeInputOutput, "the database \(path) is on a file system without write-ahead logs")
                }
            }
            try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4000")
            try connection.transaction { try SQLiteCatalog.prepare(connection, path: path) }
            return connection
        }
        // A database in memory belongs to one connection.
        readers = (file.map { Array(repeating: $0, count: 4) } ?? []).map { file in
            SQLiteWorker(label: "sluice.backend.reader") { try file.open(access: .readOnly) }
        }
        loads = Mutex(Array(repeating: 0, count: readers.count))
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result {
        let index = loads.withLock { loads -> Int? in
            guard let index = loads.indices.min(by: { loads[$0] < loads[$1] }) else { return nil }
            loads[index] += 1
            return index
        }
        defer { if let index { loads.withLock { $0[index] -= 1 } } }
        return try await (index.map { readers[$0] } ?? writer).run { connection in
            try connection.transaction(.deferred) { try body(connection) }
        }
    }

    /// What is committed is noted in the mark before the result is returned.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Result
    ) async throws -> Result {
        try await writer.write(frame) { try body($0) }
    }

    private var frame: TransactionFrame {
        TransactionFrame(
            begin: { [file] in
                try file?.check()
                return {}
            },
            beforeCommit: { [markFile] connection in
                let mark = try markFile.map { _ in try LastCommit(connection) }
                // The change is committed, whatever becomes of the mark: one that is older than the database does no harm.
                return { _ in
                    if let mark { try? markFile?.write(mark) }
                    self.committed()
                }
            })
    }

    func secret() -> String? { nil }

    /// Writes the mark, so that it is known that it can be written.
    func requireMark() async throws {
        guard let markFile else { return }
        try await writer.run { connection in try markFile.write(LastCommit(connection)) }
    }

    /// Waits for what is under way and closes the connections.
    func close() async throws {
        for reader in readers { try await reader.close() }
        try await writer.close()
    }
}
