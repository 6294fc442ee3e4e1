internal import SluiceBase
internal import SluiceWire

/// Checks whether a server really sorts by time.
///
/// A server that ignores the order may return rows as they were stored, in the order of their times by chance. A
/// request for the opposite order then returns the same order, and reveals it.
package struct SortCheck: Sendable {
    private static let leastPages = 2
    private static let leastRows = 16

    private var pages = 0
    private var rows = 0
    /// Whether the last page with new rows linked to another one: at the end of the rows that is a contradiction.
    private var linksOn = false
    private(set) var isAsking = false
    private var isDone = false

    package init() {}

    package var request: PullRequest { PullRequest(position: .newestFirst, skip: 0, top: Self.leastRows) }

    /// Counts a page and its new rows: a pull of few rows is not worth the check.
    mutating func count(_ fresh: Int, linksOn: Bool) {
        pages += 1
        rows += fresh
        if fresh > 0 { self.linksOn = linksOn }
    }

    /// Whether to send the check now.
    mutating func begins() -> Bool {
        guard !isDone, linksOn || (pages >= Self.leastPages && rows >= Self.leastRows) else { return false }
        isAsking = true
        return true
    }

    /// Whether the answer shows that the server does not sort. Concurrent inserts and deletes do not affect that.
    package mutating func failed(by page: PullPage?) -> Bool {
        isAsking = false
        isDone = true
        let times = (page?.rows ?? []).compactMap { $0.updatedAt.flatMap { Timestamp($0) } }
        return zip(times, times.dropFirst()).contains { $0 < $1 }
    }
}

/// Checks whether a server sorts rows of one time by id, and compares times and ids in the same order.
///
/// Only then can a pull continue after (time, id) without missing rows. A page may be sorted by chance, so known rows
/// are requested in the opposite order: the server has to return exactly these.
package struct TieCheck: Sendable {
    /// The number of rows of one time at a page's end that makes the check worthwhile and conclusive.
    static let leastRows = 4

    package let time: String
    /// The expected ids, last one first.
    private let ids: [RecordID]
    private let last: RecordID

    /// Makes the check for a page; nil if its last rows do not share one time, or are not sorted.
    package init?(_ page: PullPage, pageSize: Int) {
        guard let last = page.rows.last, let time = last.updatedAt, !last.isUnfit else { return nil }
        let tied = page.rows.reversed().prefix { $0.updatedAt == time && !$0.isUnfit }.prefix(min(pageSize, 20))
        let ids = tied.map(\.id)
        guard tied.count >= Self.leastRows, IDOrder.isAscending(ids.reversed()), page.isUniform() else { return nil }
        self.time = time
        self.last = last.id
        self.ids = ids
    }

    package var request: PullRequest {
        PullRequest(position: .ties(time: time, id: last), skip: 0, top: ids.count)
    }

    /// Whether the answer proves the order.
    package func isProven(by page: PullPage) -> Bool { page.rows.map { $0.id } == ids }
}

/// Whether a server sorts by id.
enum IDOrder {
    /// Whether the ids ascend, none twice, in the order of their bytes or in one that ignores case.
    ///
    /// A server's database has an order of its own. Ids accepted here are safe to follow; others are read in a way that
    /// needs no order.
    static func isAscending(_ ids: [RecordID]) -> Bool {
        let pairs = zip(ids, ids.dropFirst())
        return pairs.allSatisfy { $0 < $1 }
            || pairs.allSatisfy { folded($0).lexicographicallyPrecedes(folded($1)) }
    }

    /// Whether all orders in use sort those ids alike, because they have one shape, such as UUIDs: equal lengths, and
    /// ASCII letters of one case or digits where they differ. A server may sort and compare other ids in different
    /// orders.
    static func isUniform(_ ids: some Collection<RecordID>) -> Bool {
        guard let first = ids.first?.text.utf8 else { return true }
        var cases: Set<UInt8> = []
        for id in ids {
            guard id.text.utf8.count == first.count else { return false }
            for (one, other) in zip(first, id.text.utf8) where one != other {
                for byte in [one, other] where !(0x30...0x39).contains(byte) {
                    guard (0x41...0x5A).contains(byte & 0xDF) else { return false }
                    cases.insert(byte & 0x20)
                }
            }
        }
        return cases.count < 2
    }

    /// Whether the id looks generated: 32 hexadecimal digits in one case, and perhaps hyphens. Tables with such ids
    /// usually have no others.
    static func isGenerated(_ id: RecordID) -> Bool {
        let digits = id.text.utf8.filter { $0 != 0x2D }
        guard digits.count == 32, id.text.utf8.count <= 36 else { return false }
        return digits.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x61 < 6 }
            || digits.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x41 < 6 }
    }

    private static func folded(_ id: RecordID) -> [UInt8] {
        id.text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}
