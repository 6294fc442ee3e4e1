internal import SluiceCore

/// The newest decisions, up to a number.
struct DecisionRing: Sendable {
    private var entries: [PluginDecision] = []
    private var oldest = 0
    private let capacity: Int
    private(set) var count = 0

    init(capacity: Int) { self.capacity = max(0, capacity) }

    /// The number of the next entry.
    var next: Int { count + 1 }

    /// Adds an entry, in the place of the oldest where the ring is full.
    mutating func append(_ entry: PluginDecision) {
        count += 1
        guard capacity > 0 else { return }
        if entries.count < capacity {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % capacity
        }
    }

    /// All that is kept, the oldest first.
    var all: [PluginDecision] { Array(entries[oldest...] + entries[..<oldest]) }
}
