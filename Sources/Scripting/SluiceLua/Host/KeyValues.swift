package import SluiceCore

/// The values of one plugin: what is saved, and what calls under way have written and not finished.
package struct KeyValues: Sendable {
    /// A value with its end.
    package struct Entry: Sendable, Hashable {
        let value: JSON
        let endsAt: Timestamp?
        /// How many bytes it is when it is saved: counted once, since a store of many values is asked at each change.
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

    /// What a call has done to a key.
    enum Change: Sendable {
        case set(Entry?)
        case add(Int64)
    }

    /// The changes with one more sum. Sums in a row are one, so that many of them do not take longer each time.
    static func adding(_ number: Int64, to changes: [Change]) -> [Change] {
        guard case .add(let before)? = changes.last else { return changes + [.add(number)] }
        let (sum, overflows) = before.addingReportingOverflow(number)
        return Array(changes.dropLast()) + [.add(overflows ? (number < 0 ? .min : .max) : sum)]
    }

    private var entries: [String: Entry]
    /// Before that time no value that is kept is over.
    private var nextEnd: Timestamp?
    /// The keys and values together, those that are over with the others until room is made.
    private(set) var size: Int
    /// The keys of values that were over and have gone, and are still saved.
    private var gone: Set<String> = []

    init(_ saved: [String: JSON] = [:]) {
        entries = saved.mapValues { Entry(saved: $0) }
        nextEnd = entries.values.compactMap(\.endsAt).min()
        size = entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.size }
    }

    /// The value of a key, as a call sees it that has made those changes.
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

    /// How many bytes a key and its value take with those changes.
    func size(of key: String, with changes: [String: [Change]], at now: Timestamp) -> Int {
        // What is over counts here as it does in `size`.
        let isChanged = changes[key] != nil
        let entry = isChanged ? value(key, with: changes, at: now) : entries[key]
        return entry.map { key.utf8.count + $0.size } ?? 0
    }

    /// Lets go of the values that are over.
    mutating func makeRoom(at now: Timestamp) {
        guard let nextEnd, nextEnd <= now else { return }
        for (key, entry) in entries where entry.isOver(at: now) {
            entries[key] = nil
            size -= key.utf8.count + entry.size
            gone.insert(key)
        }
        self.nextEnd = entries.values.compactMap(\.endsAt).min()
    }

    /// Makes the changes, and says what has to be saved.
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
