internal import SluiceCore

/// The values of one plugin: what is saved, and what calls under way have written and not finished.
struct KeyValues: Sendable {
    /// A value with its end.
    struct Entry: Sendable, Hashable {
        var value: JSON
        var endsAt: Timestamp?

        init(_ value: JSON, endsAt: Timestamp? = nil) {
            self.value = value
            self.endsAt = endsAt
        }

        init(saved: JSON) {
            value = saved["v"] ?? .null
            endsAt = saved["until"]?.string.flatMap { Timestamp($0) }
        }

        var saved: JSON {
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

    private var entries: [String: Entry]

    init(_ saved: [String: JSON] = [:]) { entries = saved.mapValues { Entry(saved: $0) } }

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

    /// How many bytes keys and values would take with those changes.
    func bytes(with changes: [String: [Change]], at now: Timestamp) -> Int {
        Set(entries.keys).union(changes.keys).reduce(0) { sum, key in
            guard let entry = value(key, with: changes, at: now) else { return sum }
            return sum + key.utf8.count + entry.saved.bytes().count
        }
    }

    /// Makes the changes, and says what has to be saved.
    mutating func apply(_ changes: [String: [Change]], at now: Timestamp) -> [String: JSON?] {
        var saved: [String: JSON?] = [:]
        for key in changes.keys {
            let entry = value(key, with: changes, at: now)
            entries[key] = entry
            saved.updateValue(entry?.saved, forKey: key)
        }
        return saved
    }
}
