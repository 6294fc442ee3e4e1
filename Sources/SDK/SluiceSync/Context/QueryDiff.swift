public import SluiceBase

/// The difference between one result of a query and the next.
///
/// ``removed`` and the start of a move are indexes of the former result; ``inserted`` and the end of a move are
/// indexes of the new one. To apply it, first take out all rows that are ``removed`` or ``moved``. Then put in the
/// rows that are ``inserted`` or ``moved``, smallest index first. At last replace the ``changed`` rows.
///
/// ```swift
/// let next = update.diff.applied(to: former)
/// ```
public struct QueryDiff: Sendable, Hashable {
    /// A record at its place in the new result.
    public struct Row: Sendable, Hashable {
        /// The index in the new result.
        public var index: Int
        /// The record.
        public var record: JSON

        /// A row.
        public init(_ index: Int, _ record: JSON) {
            self.index = index
            self.record = record
        }
    }

    /// A record whose position relative to the other records has changed.
    public struct Move: Sendable, Hashable {
        /// The index in the former result.
        public var from: Int
        /// The index in the new result.
        public var to: Int

        /// A move.
        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The records that are no longer in the result, by their former indexes in rising order.
    public var removed: [Int] = []
    /// The records that are new in the result, in its order.
    public var inserted: [Row] = []
    /// The records that have changed places, in the order of the new result.
    public var moved: [Move] = []
    /// The records that are in both results with other properties, in the order of the new one; also those that moved.
    public var changed: [Row] = []

    /// Whether the two results are the same.
    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty }

    /// Compares two results whose records have ids, each id once.
    public init(from old: [JSON], to new: [JSON]) {
        let ids = new.map { $0["id"]?.textID ?? "" }
        let isWanted = Set(ids)
        var formerIndex: [RecordID: Int] = [:]
        for (index, record) in old.enumerated() {
            let id = record["id"]?.textID ?? ""
            if isWanted.contains(id) { formerIndex[id] = index } else { removed.append(index) }
        }
        let former = ids.map { formerIndex[$0] }
        let staying = Self.longestRise(former)
        for (index, record) in new.enumerated() {
            guard let from = former[index] else {
                inserted.append(Row(index, record))
                continue
            }
            if !staying.contains(index) { moved.append(Move(from: from, to: index)) }
            if old[from] != record { changed.append(Row(index, record)) }
        }
    }

    /// Returns the result that follows `former`.
    public func applied(to former: [JSON]) -> [JSON] {
        let going = Set(removed).union(moved.map(\.from))
        var staying = former.indices.lazy.filter { !going.contains($0) }.map { former[$0] }.makeIterator()
        var coming = Dictionary(inserted.map { ($0.index, $0.record) }) { $1 }
        for move in moved where former.indices.contains(move.from) { coming[move.to] = former[move.from] }
        var next: [JSON] = []
        let count = former.count - removed.count + inserted.count
        while next.count < count, let record = coming[next.count] ?? staying.next() { next.append(record) }
        for row in changed where next.indices.contains(row.index) { next[row.index] = row.record }
        return next
    }

    /// Returns the indexes of a longest rising subsequence. Its rows keep their order, so that as few rows as possible
    /// move.
    private static func longestRise(_ values: [Int?]) -> Set<Int> {
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: values.count)
        for (index, value) in values.enumerated() {
            guard let value else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if (values[ends[middle]] ?? 0) < value { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var part: Set<Int> = []
        var next = ends.last
        while let index = next {
            part.insert(index)
            next = before[index]
        }
        return part
    }
}
