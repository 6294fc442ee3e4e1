public import SluiceBase
internal import Synchronization

/// Where records are kept on this machine: tables of records, queries over them, and transactions. A store knows
/// nothing of sync; the engine keeps its own rows in tables of the same store.
///
/// Bring your own by conforming to this protocol, and prove it with `LocalStoreConformance` from `SluiceTesting`.
/// ``MemoryStore`` is the smallest example, `SQLiteStore` the one to use.
///
/// A record is a JSON object with a non-empty string `id`, unique in its table. A store gives back every property of a
/// record as it was put, null or not, whether a column was declared for it or not; only the order of properties may
/// change.
public protocol LocalStore: Sendable {
    /// Declares tables. Additions to what the store holds are made; a table or column that the list does not name
    /// stays as it is.
    ///
    /// - Throws: ``SluiceError`` of code `storeSchema` where a column's type differs from the one it has.
    func define(_ tables: [TableSchema]) async throws

    /// Runs `body` on one unchanging state of the store. Readers run beside each other and beside a writer.
    ///
    /// The reader is valid until `body` returns.
    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result

    /// Runs `body` as one transaction: what it wrote is there whole when this returns, and not at all if it throws or
    /// the process dies. Writers run one after the other.
    ///
    /// The writer is valid until `body` returns. Cancelling the task does not interrupt `body`. A store may take back
    /// what `body` wrote and run it again, where a commit that several writes share has failed, for example.
    func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result

    /// Ends the store's use; every call after it throws `storeClosed`. Closing twice is allowed.
    func close() async throws

    /// Takes the lease, under which a store is pushed and pulled, or gives nil at once if somebody has it.
    ///
    /// The default always gives one: right for a store that only one context uses.
    func takeLease() async throws -> StoreLease?

    /// Takes the lease away from whoever has it, so that the next ``takeLease()`` succeeds. The default does nothing.
    func breakLease() async throws
}

extension LocalStore {
    /// A lease that keeps nobody out; see the requirement.
    public func takeLease() async throws -> StoreLease? { StoreLease {} }

    /// Does nothing; see the requirement.
    public func breakLease() async throws {}
}

/// The reading half of a transaction.
public protocol StoreReader {
    /// The record with that id, or nil. A table that does not exist holds no record.
    func record(_ id: RecordID, in table: String) throws -> JSON?

    /// The records that match, in the query's order (then by id), with `skip`, `top` and `select` applied.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a query that means nothing.
    func records(matching query: Query) throws -> [JSON]

    /// How many records match the query's filter; its `skip`, `top` and `select` do not count.
    func count(matching query: Query) throws -> Int

    /// The tables that the store holds, as they are declared; those that were not, with no columns.
    func tables() throws -> [TableSchema]
}

/// The writing half of a transaction. It sees what it has written.
public protocol StoreWriter: StoreReader {
    /// Inserts the record, or replaces the one with its id as a whole. A table that was not declared comes into being.
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a record without a string id.
    func put(_ record: JSON, in table: String) throws

    /// Puts rows of a page, each as ``put(_:in:)`` would. A store may take them straight from the page's bytes; the
    /// default makes records of them.
    func put(_ rows: RowPage.Selection, in table: String) throws

    /// Removes the records with those ids. An id that is not there is no error.
    func delete(_ ids: [RecordID], from table: String) throws

    /// Removes the records that match the query's filter, and returns how many they were.
    func delete(matching query: Query) throws -> Int

    /// Declares a table anew: its columns and indexes are these from now on, whatever they were. Its records stay as
    /// they are, property by property. A table that does not exist comes into being.
    ///
    /// - Throws: ``SluiceError`` of code `invalidTable` for names that are not allowed.
    func redeclare(_ table: TableSchema) throws

    /// Removes a table with its records and its declaration. One that does not exist is no error.
    func drop(_ table: String) throws
}

extension StoreWriter {
    /// Makes a record of each row and puts it.
    public func put(_ rows: RowPage.Selection, in table: String) throws {
        for index in rows.indices { try put(rows.page.record(at: index), in: table) }
    }
}

/// The right to synchronise a store: one holder at a time, among all that have the store open.
///
/// It ends when it is released, when the value is gone, and, where a store is shared by processes, when the process
/// ends, however that happens.
public final class StoreLease: Sendable {
    private let giveBack: Mutex<(@Sendable () -> Void)?>

    /// A lease that ends by `giveBack`, which is called once.
    public init(giveBack: @escaping @Sendable () -> Void) { self.giveBack = Mutex(giveBack) }

    deinit { release() }

    /// Ends it. Doing so twice is allowed.
    public func release() {
        let giveBack = giveBack.withLock { held in
            defer { held = nil }
            return held
        }
        giveBack?()
    }
}

extension StoreReader {
    /// All records of a table in the order of their ids, some at a time, so that a large table is never in memory
    /// whole. Of what a writer puts meanwhile, those come too whose ids are still ahead.
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

    /// The record that an application names by that id: the one with the same bytes, or else the one whose id is that GUID in
    /// small letters or in capitals, as the server may write it.
    func record(named id: RecordID, in table: String) throws -> JSON? {
        for id in id.spellings { if let record = try record(id, in: table) { return record } }
        return nil
    }
}
