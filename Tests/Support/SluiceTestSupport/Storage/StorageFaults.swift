internal import CSQLite
internal import CSQLiteFaults
internal import SluiceCore
package import SluiceSQLite
internal import Synchronization

/// A file system for SQLite stores, over the machine's own, that fails where a test wants it to, and that knows what a
/// power cut would leave.
///
/// ```swift
/// let faults = try StorageFaults()
/// let store = try SQLiteStore(path: path, options: faults.options())
/// faults.arm(.fullDisk, at: 3)
/// try await store.write { try $0.put(["id": "1"], in: "todos") }  // throws storeFull at the third write
/// ```
///
/// All calls are counted and all unsynced writes are kept under a lock of the file system's own, and the pointer to it
/// never changes: that is why the type may be `Sendable` unchecked.
package final class StorageFaults: @unchecked Sendable {
    /// What goes wrong.
    package enum Fault: Int, Sendable, Hashable, CaseIterable {
        /// A call of any kind (open, read, write, sync, lock, shared memory …) fails and does nothing.
        case call = 1
        /// A read brings half of the bytes and fails.
        case shortRead
        /// A write takes half of the bytes and fails.
        case shortWrite
        /// A write finds the disk full.
        case fullDisk
        /// A sync fails and makes nothing durable.
        case sync
        /// The power is cut: from that call on nothing works. Only calls that change something count.
        case powerCut
    }

    /// What a power cut leaves of writes that were not synced.
    package enum Unsynced: Int, Sendable, Hashable, CaseIterable {
        /// Nothing.
        case dropped
        /// Everything.
        case kept
        /// Each 512 bytes of each write, or not, as a seed decides.
        case torn
    }

    private let faults: OpaquePointer
    private let name: String
    private static let made = Atomic(0)

    /// A file system in which all works, until it is armed.
    ///
    /// - Parameter forEncrypted: whether it is for encrypted stores: those have a library of their own.
    /// - Throws: ``SluiceError`` of code `storeInputOutput` where SQLite does not take it, `storeLibraryMissing`.
    package init(forEncrypted: Bool = false) throws {
        name = "sluice-faults-\(Self.made.add(1, ordering: .relaxed).newValue)"
        let library = try forEncrypted ? SQLiteLibrary.cipher() : .system
        guard let faults = csqlite_faults_make(name, library.functions) else {
            throw SluiceError(.storeInputOutput, "SQLite does not take another file system")
        }
        self.faults = faults
    }

    // Connections that are still open keep what they need of it.
    deinit { csqlite_faults_free(faults) }

    /// The options with which a store uses this file system.
    package func options(_ options: SQLiteStore.Options = .init()) -> SQLiteStore.Options {
        var options = options
        options.fileSystem = name
        return options
    }

    /// Has the call of that number fail, counted from 1 and from now on, among those that the fault is about.
    ///
    /// - Parameter repeats: whether all later ones fail too.
    package func arm(_ fault: Fault, at call: Int, repeats: Bool = false) {
        csqlite_faults_arm(faults, Int32(fault.rawValue), Int64(call), repeats ? 1 : 0)
    }

    /// Has everything work again, but after a power cut.
    package func heal() { csqlite_faults_heal(faults) }

    /// How many calls that the fault is about have come since it was armed.
    package var calls: Int { Int(csqlite_faults_calls(faults)) }

    /// How many calls have failed since the fault was armed.
    package var fired: Int { Int(csqlite_faults_fired(faults)) }

    /// Writes to `destination` what a power cut at this moment leaves of the store at `path`, its log included.
    ///
    /// - Parameter path: as it was opened, without symbolic links.
    /// - Throws: ``SluiceError`` of code `storeInputOutput`.
    package func saveSurvivors(
        of path: String, to destination: String, _ unsynced: Unsynced, seed: UInt64 = 0
    ) throws {
        for (index, suffix) in ["", "-wal", "-journal"].enumerated() {
            let result = csqlite_faults_survivor(
                faults, path + suffix, destination + suffix, Int32(unsynced.rawValue), seed &* 3 &+ UInt64(index))
            guard result >= 0 else {
                throw SluiceError(.storeInputOutput, "\(destination)\(suffix) cannot be written")
            }
        }
    }
}
