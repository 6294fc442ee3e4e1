package import SluiceCore

/// The values of one plugin. Calls under way hold their changes themselves until they finish.
package struct KeyValues: Sendable {
    /// A value with its time of expiry.
    package struct Entry: Sendable, Hashable {
        let value: JSON
        let endsAt: Timestamp?
        /// The size in bytes when saved. It is computed once, because every change reads it.
        let size: Int

        package init(_ value: JSON, endsAt: Timestamp? = nil) {
            self.value = value
            self.endsAt = endsAt
            size = Self.saved(value, endsAt).bytes().count
        }

        init(saved: JSON) {
            self.init(saved["v"] ?? .null, endsAt: saved["until"]?.string.flatMap { Timestamp($0) })
        }

        package var saved: JSON { Self.saved(value, endsAt) }

        private static func saved(_ value: JSON, _ endsAt: Timestamp?) -> JSON {
            guard let endsAt else { return ["v": value] }
            return ["v": value, "until": JSON(endsAt.description)]
        }

        func isOver(at now: Timestamp) -> Bool { endsAt.map { $0 <= now } ?? false }
    }

    /// A change of a key by a call.
    enum Change: Sendable {
        case set(Entry?)
        case add(Int64)
    }

    /// Returns the changes with one more addition. Consecutive additions become one, so that each new one costs the
    /// same.
    static func adding(_ number: Int64, to changes: [Change]) -> [Change] {
        guard case .add(let before)? = changes.last else { return changes + [.add(number)] }
        let (sum, overflows) = before.addingReportingOverflow(number)
        return Array(changes.dropLast()) + [.add(overflows ? (number < 0 ? .min : .max) : sum)]
    }

    private var entries: [String: Entry]
    /// The earliest expiry of a value in memory, or a time before it.
    private var nextEnd: Timestamp?
    /// The size of keys and values together. Expired values count until ``makeRoom(at:)`` removes them.
    private(set) var size: Int
    /// The keys of expired values that were removed here, but not yet from the storage.
    private var gone: Set<String> = []

    init(_ saved: [String: JSON] = [:]) {
        entries = saved.mapValues { Entry(saved: $0) }
        nextEnd = entries.values.compactMap(\.endsAt).min()
        size = entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.size }
    }

    /// Returns the value of a key as seen by a call with those changes.
    func value(_ key: String, with changes: [String: [Change]], at now: Timestamp) -> Entry? {
        var entry = entries[key].flatMap { $0.isOver(at: now) ? nil : $0 }
        for change in changes[key] ?? [] {
            switch change {
            case .set(let set): entry = set
            case .add(let number):
                let (sum, overflows) = (entry?.value.int ?? 0).addingReportingOverflow(number)
                entry = Entry(JSON(overflows ? (number < 0 ? .min : .max) : sum), endsAt: entry?.endsAt)
            }
        }
        return entry.flatMap { $0.isOver(at: now) ? nil : $0 }
    }

    /// Returns the size in bytes of a key and its value after those changes.
    func size(of key: String, with changes: [String: [Change]], at now: Timestamp) -> Int {
        // An expired value counts here as it does in `size`.
        let isChanged = changes[key] != nil
        let entry = isChanged ? value(key, with: changes, at: now) : entries[key]
        return entry.map { key.utf8.count + $0.size } ?? 0
    }

    /// Removes expired values.
    mutating func makeRoom(at now: Timestamp) {
        guard let nextEnd, nextEnd <= now else { return }
        for (key, entry) in entries where entry.isOver(at: now) {
            entries[key] = nil
            size -= key.utf8.count + entry.size
            gone.insert(key)
        }
        self.nextEnd = entries.values.compactMap(\.endsAt).min()
    }

    /// Makes the changes, and returns the values to save.
    mutating func apply(_ changes: [String: [Change]], at now: Timestamp) -> [String: JSON?] {
        var saved: [String: JSON?] = [:]
        for key in gone { saved.updateValue(nil, forKey: key) }
        gone = []
        for key in changes.keys {
            let entry = value(key, with: changes, at: now)
            size += (entry.map { key.utf8.count + $0.size } ?? 0) - size(of: key, with: [:], at: now)
            entries[key] = entry
            if let end = entry?.endsAt { nextEnd = min(nextEnd ?? end, end) }
            saved.updateValue(entry?.saved, forKey: key)
        }
        return saved
    }
}
