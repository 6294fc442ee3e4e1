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

/// A record that has exactly the columns of a table, given by their values: no document need be made of it.
public struct StoreRow: Sendable {
    /// The table with its columns. The store's table of that name may have others.
    public let schema: TableSchema
    /// The record's id.
    public let id: RecordID
    /// The values of the columns, in the schema's order.
    public let values: [ColumnValue]

    /// A row of a table.
    public init(_ id: RecordID, _ values: [ColumnValue], in schema: TableSchema) {
        self.schema = schema
        self.id = id
        self.values = values
    }

    /// The record: the id, and a property for each column, null where the value is.
    public var record: JSON {
        var record: JSON = ["id": JSON(id)]
        for (column, value) in zip(schema.columns, values) { record[column.name] = value.json }
        return record
    }

    /// Whether the values may be written as they are into a table that is declared as `held`. If not, the record may
    /// still be put, or refused.
    package func fits(_ held: TableSchema) -> Bool {
        !id.isEmpty && held.columns == schema.columns && values.count == schema.columns.count
            && zip(values, schema.columns).allSatisfy { $0.fits($1.type) }
    }
}

/// The value of a declared column.
public enum ColumnValue: Sendable, Hashable {
    /// A null, which is not an absent property.
    case null
    /// A text or a date.
    case text(String)
    /// An integer.
    case integer(Int64)
    /// A truth value.
    case boolean(Bool)
    /// An array or an object.
    case json(JSON)

    /// The value as a property of a record.
    public var json: JSON {
        switch self {
        case .null: .null
        case .text(let text): JSON(text)
        case .integer(let integer): JSON(integer)
        case .boolean(let boolean): JSON(boolean)
        case .json(let json): json
        }
    }

    /// Whether a column of that type holds the value exactly.
    fileprivate func fits(_ type: TableSchema.ColumnType) -> Bool {
        switch (self, type) {
        case (.null, _), (.text, .string), (.text, .date), (.integer, .integer), (.boolean, .boolean): true
        case (.json(let json), .json):
            (json.kind == .array || json.kind == .object) && StoreRules.isShallow(json, JSON.maximumDepth - 1)
        default: false
        }
    }
}
