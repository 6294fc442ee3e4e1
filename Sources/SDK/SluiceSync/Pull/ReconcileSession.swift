internal import SluiceBase
internal import SluiceWire

/// The result of a reconcile.
public struct ReconcileResult: Sendable, Hashable {
    /// The number of the query's local rows that were compared.
    public var compared = 0
    /// The number of rows fetched because they were missing here or had another version.
    public var stored = 0
    /// The number of rows removed, because the server no longer has them or because they left the query and no other
    /// query holds them.
    public var removed = 0
    /// The number of different rows left unchanged because changes of them wait in the queue.
    public var pending = 0
    /// The number of fetched rows that could not be stored; see ``SyncContext/quarantine(table:)``.
    public var quarantined = 0
    /// Whether the server's digest sufficed to find the differing ranges; else its rows were listed.
    public var usedDigest = false
}

/// Finds the differences between a query's local rows and the server's, as a pure state machine: it returns the digests
/// and lists to request, and takes the answers.
///
/// If the server offers digests, digests of id ranges locate the differences; a differing range is split further or
/// listed. Without digests all ids and versions are listed. Equal counts prove nothing.
struct ReconcileSession: Sendable {
    /// The input of the session.
    enum Event {
        case began
        /// The requested digest; nil where the server offers no usable one.
        case digest(TableDigest?)
        /// The requested ids and versions.
        case listed([RecordID: String?])
    }

    /// The next action for the driver.
    enum Effect {
        /// Ask for the digest of that range; nil means of all rows of the query.
        case digest(of: TableDigest.Range?)
        /// List the ids and versions of that range; nil means of all rows of the query.
        case list(of: TableDigest.Range?)
        case finish(Difference)
    }

    /// The differences between the server and the store.
    struct Difference: Sendable, Hashable {
        /// Rows that are missing here or have another version.
        var wanted: [RecordID] = []
        /// Rows that the server did not list.
        var missing: [RecordID] = []
        /// The number of different rows with waiting changes.
        var pending = 0
        /// The versions of listed rows with waiting changes.
        var listed: [RecordID: String?] = [:]
        /// Rows with waiting changes that the server did not list.
        var unlisted: Set<RecordID> = []
        /// Whether the server's digests were usable.
        var usedDigest = false
    }

    private enum Step {
        case digest(TableDigest.Range?, [RecordID], depth: Int)
        case list(TableDigest.Range?, [RecordID])
        /// Ids in no range of the digest: the server does not have them.
        case absent([RecordID])
    }

    /// The largest number of rows in a range that is listed instead of split further.
    private static let leastRange = 500
    /// The maximum depth of splitting a range: with dozens of ranges per level that is enough for any table.
    private static let mostDepth = 16

    private let held: LocalQueryRows
    private let pending: Set<RecordID>
    /// The ranges still to be compared, the next one last.
    private var steps: [Step] = []
    private var current: Step?
    private var difference = Difference()

    /// - Parameters:
    ///   - held: the query's local rows.
    ///   - pending: the rows with waiting changes.
    init(held: LocalQueryRows, pending: Set<RecordID>) {
        self.held = held
        self.pending = pending
    }

    /// Handles an event and returns the next effect.
    mutating func handle(_ event: Event) -> Effect {
        switch (event, current) {
        case (.began, _): steps = [.digest(nil, held.ids, depth: 0)]
        case (.digest(nil), .digest(let range, let ids, _)): steps.append(.list(range, ids))
        case (.digest(let digest?), .digest(nil, let ids, _)):
            difference.usedDigest = true
            if digest.sum != held.sum(of: ids) { takeApart(digest, ids, depth: 1) }
        case (.digest(let digest?), .digest(let range, let ids, let depth)):
            if digest.ranges.count > 1 {
                takeApart(digest, ids, depth: depth + 1)
            } else {
                steps.append(.list(range, ids))
            }
        case (.listed(let rows), .list(_, let ids)): compare(ids, with: rows)
        default: break
        }
        return next()
    }

    private mutating func next() -> Effect {
        while let step = steps.popLast() {
            current = step
            switch step {
            case .digest(let range, _, _): return .digest(of: range)
            case .list(let range, _): return .list(of: range)
            case .absent(let ids): compare(ids, with: [:])
            }
        }
        return .finish(difference)
    }

    /// Compares the ranges of a digest with the local rows in them.
    private mutating func takeApart(_ digest: TableDigest, _ ids: [RecordID], depth: Int) {
        var outside = Set(ids)
        var found: [Step] = []
        for range in digest.ranges {
            let here = held.ids(in: range)
            for id in here { outside.remove(id) }
            if held.sum(of: here) == range.sum { continue }
            let isLarge = range.sum.count > Self.leastRange && depth < Self.mostDepth
            found.append(isLarge ? .digest(range, Array(here), depth: depth) : .list(range, Array(here)))
        }
        found.append(.absent(ids.filter { outside.contains($0) }))
        steps += found.reversed()
    }

    private mutating func compare(_ ids: [RecordID], with listed: [RecordID: String?]) {
        for (id, version) in listed {
            let isPending = pending.contains(id)
            if isPending { difference.listed[id] = .some(version) }
            if held.versions[id] == .some(version) { continue }
            if isPending { difference.pending += 1 } else { difference.wanted.append(id) }
        }
        for id in ids where listed[id] == nil {
            if pending.contains(id) {
                difference.pending += 1
                difference.unlisted.insert(id)
            } else {
                difference.missing.append(id)
            }
        }
    }
}
