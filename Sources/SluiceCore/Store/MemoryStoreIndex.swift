/// One of the indexes that a table of a ``MemoryStore`` declares: where the records are that a query can be about.
///
/// It only narrows down: the query's filter decides about what it finds.
struct MemoryStoreIndex: Sendable {
    private typealias Key = MemoryStoreState.Key

    /// An integer and whose it is.
    private struct Entry: Sendable {
        var value: Int64
        var key: MemoryStoreState.Key
    }

    let columns: [String]
    /// Whether the one column holds integers, by which the records are kept in order.
    private let isOrdered: Bool
    /// Whether all columns hold texts, which are equal only as they are written. Dates, say, are equal otherwise too.
    private let isOfText: Bool
    /// By the texts in the columns.
    private var byText: [MemoryStoreState.Key: Set<MemoryStoreState.Key>] = [:]
    /// By the integer in the column, then by id.
    private var inOrder: [Entry] = []
    /// The records that hold something else there, null apart: they can be anywhere.
    private var others: Set<MemoryStoreState.Key> = []

    init(_ columns: [String], schema: TableSchema) {
        self.columns = columns
        isOrdered =
            columns.count == 1 && schema.columns.contains { $0.name == columns[0] && $0.type == .integer }
        isOfText = columns.allSatisfy { name in
            name == "id" || schema.columns.contains { $0.name == name && $0.type == .string }
        }
    }

    // MARK: Changes

    mutating func add(_ record: JSON, _ key: MemoryStoreState.Key) {
        if isOrdered {
            guard let value = record[columns[0]]?.int else { return note(record, key) }
            inOrder.insert(Entry(value: value, key: key), at: place(of: value, key))
        } else if let text = text(of: columns.map { record[$0]?.string }) {
            byText[text, default: []].insert(key)
        } else {
            note(record, key)
        }
    }

    mutating func remove(_ record: JSON, _ key: MemoryStoreState.Key) {
        if others.remove(key) != nil { return }
        if isOrdered {
            guard let value = record[columns[0]]?.int else { return }
            let place = place(of: value, key)
            if place < inOrder.count, inOrder[place].key == key { inOrder.remove(at: place) }
        } else if let text = text(of: columns.map { record[$0]?.string }) {
            byText[text]?.remove(key)
            if byText[text]?.isEmpty == true { byText[text] = nil }
        }
    }

    /// A null equals no text and is greater than no number; of all else the query has to judge.
    private mutating func note(_ record: JSON, _ key: MemoryStoreState.Key) {
        let isNowhere = !isOrdered && columns.contains { record[$0]?.isNull ?? true }
        if !isNowhere { others.insert(key) }
    }

    private func text(of values: [String?]) -> MemoryStoreState.Key? {
        var bytes: [UInt8] = []
        for value in values {
            guard let value else { return nil }
            bytes += value.utf8
            // No two texts have to be told apart for certain: the filter does that.
            bytes.append(0)
        }
        return Key(bytes: bytes)
    }

    /// The first place that is not before the value and the key.
    private func place(of value: Int64, _ key: MemoryStoreState.Key?) -> Int {
        var (low, high) = (0, inOrder.count)
        while low < high {
            let middle = (low + high) / 2
            let entry = inOrder[middle]
            let isBefore = entry.value < value || (entry.value == value && key.map { entry.key < $0 } ?? false)
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Queries

    /// The records that have those texts in the columns, and some that may not; nil if the index does not help.
    func candidates(_ texts: [String: String]) -> Set<MemoryStoreState.Key>? {
        guard isOfText, let text = text(of: columns.map { texts[$0] }) else { return nil }
        return (byText[text] ?? []).union(others)
    }

    /// Calls `body` with the records in the order of `key` until it returns false.
    ///
    /// - Parameter bound: those with a smaller or the same value are left out.
    /// - Returns: false, with nothing called, if the index cannot tell the order.
    func walk(_ key: Query.SortKey, above bound: Int64?, _ body: (MemoryStoreState.Key) -> Bool) -> Bool {
        guard isOrdered, others.isEmpty, key.column == columns[0] else { return false }
        let start = bound.map { $0 == .max ? inOrder.count : place(of: $0 + 1, nil) } ?? 0
        guard key.descending else {
            for entry in inOrder[start...] where !body(entry.key) { return true }
            return true
        }
        var end = inOrder.count
        while end > start {
            // Of those with one value the smaller id comes first in either direction.
            var first = end - 1
            while first > start, inOrder[first - 1].value == inOrder[end - 1].value { first -= 1 }
            for entry in inOrder[first..<end] where !body(entry.key) { return true }
            end = first
        }
        return true
    }
}
