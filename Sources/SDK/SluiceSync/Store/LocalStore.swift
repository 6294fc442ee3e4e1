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
