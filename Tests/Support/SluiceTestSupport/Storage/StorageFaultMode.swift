internal import SluiceSQLite

/// A way in which a machine's storage fails, as ``StorageFaultTrial`` tries it.
package enum StorageFaultMode: String, Sendable, Hashable, CaseIterable {
    /// One call of any kind fails.
    case callOnce = "call-once"
    /// From some call on, all fail.
    case calls
    /// One read is cut short.
    case shortRead = "short-read"
    /// One write is cut short.
    case shortWrite = "short-write"
    /// One write finds the disk full.
    case fullOnce = "full-once"
    /// From some write on, the disk is full.
    case full
    /// One sync fails.
    case syncOnce = "sync-once"
    /// From some sync on, all fail.
    case syncs
    /// A power cut takes everything that was not synced.
    case powerDropping = "power-dropping"
    /// A power cut takes nothing that was written.
    case powerKeeping = "power-keeping"
    /// A power cut leaves any 512 bytes of what was not synced, or not.
    case powerTearing = "power-tearing"

    var fault: StorageFaults.Fault {
        switch self {
        case .callOnce, .calls: .call
        case .shortRead: .shortRead
        case .shortWrite: .shortWrite
        case .fullOnce, .full: .fullDisk
        case .syncOnce, .syncs: .sync
        case .powerDropping, .powerKeeping, .powerTearing: .powerCut
        }
    }

    var repeats: Bool { self == .calls || self == .full || self == .syncs }

    /// What a power cut leaves; nil for other faults.
    var unsynced: StorageFaults.Unsynced? {
        switch self {
        case .powerDropping: .dropped
        case .powerKeeping: .kept
        case .powerTearing: .torn
        default: nil
        }
    }

    /// Whether a store of that durability may lose its last transactions, whole and in order.
    func mayLoseLast(_ durability: SQLiteStore.Options.Durability) -> Bool {
        unsynced != nil && durability == .normal
    }
}
