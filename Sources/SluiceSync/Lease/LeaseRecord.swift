internal import SluiceBase

/// Who synchronised the store last: the one record of ``schema``.
///
/// The lock that keeps others out is the kernel's, and a kernel's lock can be got around: a process that stands still
/// is told off by hand, a lock's file is deleted, a network's file system forgets. So each holder also writes itself
/// down here with its first commit, and each of its commits looks whether that still stands.
struct LeaseRecord: Sendable, Hashable {
    /// How often the lease has changed hands.
    var epoch: Int64
    /// The last holder's own name for itself.
    var holder: String

    static let schema = TableSchema("sluice_lease", columns: [.init("epoch", .integer), .init("holder", .string)])
    private static let id: RecordID = "lease"

    init(epoch: Int64 = 0, holder: String = "") {
        self.epoch = epoch
        self.holder = holder
    }

    /// The record as the store has it.
    init(_ store: any StoreReader) throws {
        let record = try store.record(Self.id, in: Self.schema.name)
        self.init(epoch: record?["epoch"]?.int ?? 0, holder: record?["holder"]?.string ?? "")
    }

    /// Writes down that the lease now belongs to `holder`.
    func pass(to holder: String, in store: any StoreWriter) throws {
        try store.put(
            ["id": JSON(Self.id), "epoch": JSON(epoch + 1), "holder": JSON(holder)], in: Self.schema.name)
    }
}
