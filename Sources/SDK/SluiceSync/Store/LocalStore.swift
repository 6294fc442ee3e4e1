public import SluiceBase
internal import Synchronization

/// A store for records on this machine: tables of records, queries over them, and transactions. A store knows nothing
/// of sync; the engine keeps its own rows in tables of the same store.
///
/// Bring your own by conforming to this protocol, and prove it with `LocalStoreConformance` from `SluiceTesting`.
/// ``MemoryStore`` is the smallest example, `SQLiteStore` the one to use.
///
/// A record is a JSON object with a non-empty string `id`, unique in its table. A store gives back every property of a
/// record as it was put, null or not, whether a column was declared for it or not; only the order of properties may
/// change.
public protocol LocalStore: Sendable {
    /// Declares tables. New tables and columns are added; a table or column missing from the list stays as it is.
    ///
    /// - Throws: ``SluiceError`` of code `storeSchema` where a column's type differs from the one it has.
    func define(_ tables: [TableSchema]) async throws

    /// Runs `body` on one unchanging state of the store. Readers run beside each other and beside a writer.
    ///
    /// The reader is valid until `body` returns.
    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result

    /// Runs `body` as one transaction: its writes are stored completely when this returns, and not at all if it throws
    /// or the process dies. Writers run one after the other.
    ///
    /// The writer is valid until `body` returns. Cancelling the task does not interrupt `body`. A store may roll back
    /// `body` and run it again, for example after a shared commit of several writes has failed.
    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result

    /// Ends the store's use; every call after it throws `storeClosed`. Closing twice is allowed.
    func close() async throws

    /// Takes the lease for pushing and pulling the store, or returns nil at once if it is held.
    ///
    /// The default always returns one, which suits a store used by a single context.
    func takeLease() async throws -> StoreLease?

    /// Takes the lease away from its holder, so that the next ``takeLease()`` succeeds. The default does nothing.
    func breakLease() async throws
}

extension LocalStore {
    /// Returns a lease that excludes nobody; see the requirement.
    public func takeLease() async throws -> StoreLease? { StoreLease {} }

    /// Does nothing; see the requirement.
    public func breakLease() async throws {}
}

/// The reading half of a transaction.
public protocol StoreReader {
    /// Returns the record with that id, or nil. A missing table holds no record.
    func record(_ id: RecordID, in table: String) throws -> JSON?

    /// Returns the matching records, in the query's order (then by id), with `skip`, `top` and `select` applied.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for an invalid query.
    func records(matching query: Query) throws -> [JSON]

    /// Returns the number of records that match the query's filter; its `skip`, `top` and `select` are ignored.
    func count(matching query: Query) throws -> Int

    /// Returns the store's tables as declared; an undeclared table has no columns.
    func tables() throws -> [TableSchema]
}

/// The writing half of a transaction. Reads see its own writes.
public protocol StoreWriter: StoreReader {
    /// Inserts the record, or replaces the one with its id as a whole. An undeclared table is created.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a record without a string id.
    func put(_ record: JSON, in table: String) throws

    /// Puts rows of a page, each as ``put(_:in:)`` would. A store may read them directly from the page's bytes; the
    /// default decodes them into records.
    func put(_ rows: RowPage.Selection, in table: String) throws

    /// Removes the records with those ids. An unknown id is no error.
    func delete(_ ids: [RecordID], from table: String) throws

    /// Removes the records that match the query's filter, and returns their number.
    func delete(matching query: Query) throws -> Int

    /// Replaces a table's declaration: its columns and indexes are these from now on. Its records keep all properties.
    /// A missing table is created.
    ///
    /// - Throws: ``SluiceError`` of code `invalidTable` for names that are not allowed.
    func redeclare(_ table: TableSchema) throws

    /// Removes a table with its records and its declaration. A missing table is no error.
    func drop(_ table: String) throws
}

extension StoreWriter {
    /// Makes a record of each row and puts it.
    public func put(_ rows: RowPage.Selection, in table: String) throws {
        for index in rows.indices { try put(rows.page.record(at: index), in: table) }
    }
}

/// The right to synchronise a store: one holder at a time, among all contexts and processes that have it open.
///
/// It ends when it is released or deallocated. For a store shared by processes it also ends with the process, even
/// after a crash.
public final class StoreLease: Sendable {
    private let giveBack: Mutex<(@Sendable () -> Void)?>

    /// Makes a lease that ends by `giveBack`, called once.
    public init(giveBack: @escaping @Sendable () -> Void) { self.giveBack = Mutex(giveBack) }

    deinit { release() }

    /// Ends the lease. Releasing twice is allowed.
    public func release() {
        let giveBack = giveBack.withLock { held in
            defer { held = nil }
            return held
        }
        giveBack?()
    }
}

extension StoreReader {
    /// Calls `body` with all records of a table in the order of their ids. It reads some at a time, so that a large
    /// table is never in memory whole. Records put during the loop are included if their ids are still ahead.
    func forEachRecord(in table: String, _ body: (JSON) throws -> Void) throws {
        var last: String?
        while true {
            let after = last.map { QueryExpression.binary(.gt, .column("id"), .literal(.string($0))) }
            let some = try records(matching: Query(table, filter: after, order: [.init("id")], top: 500))
            for record in some { try body(record) }
            guard let end = some.last?["id"]?.string else { return }
            last = end
        }
    }

    /// Returns the record for an application's id: the one with the same bytes, or else the one with the same GUID in
    /// lower or upper case, as the server may write it.
    func record(named id: RecordID, in table: String) throws -> JSON? {
        for id in id.spellings { if let record = try record(id, in: table) { return record } }
        return nil
    }
}
