internal import SluiceBase
internal import SluiceWire

/// The number of rows that a pull requests at once. It shrinks after a failed page, which was too large, too slow or
/// beyond the server's limit, and grows again after successful pages.
struct PageSize: Sendable, Hashable {
    /// The number by the options.
    let wanted: Int
    private(set) var rows: Int
    /// The smallest number at which a page failed.
    private(set) var failed: Int?
    /// The largest number at which a page came in this pull, and at which a full page came, and the largest number of rows
    /// on a page.
    private var (came, filled, brought) = (0, 0, 0)
    /// The number of consecutive full pages, and the number needed before a failed size is tried again.
    private var (full, patience) = (0, 8)

    init(wanted: Int, rows: Int? = nil, failed: Int? = nil) {
        self.wanted = max(1, wanted)
        self.rows = min(max(1, rows ?? wanted), max(1, wanted))
        self.failed = failed
    }

    /// Whether the size differs, so that the next pull should know it.
    func isOther(than known: PageSize) -> Bool { (rows, failed) != (known.rows, known.failed) }

    /// Notes a page that came.
    ///
    /// - Parameter isAccepted: whether the server has accepted the number. A wire may leave it out of a request for a
    ///   token.
    mutating func take(_ count: Int, of asked: Int, isAccepted: Bool = true) {
        if isAccepted { came = max(came, asked) }
        brought = max(brought, min(count, asked))
        if count >= asked { filled = max(filled, asked) }
        guard asked == rows, count >= asked, rows < wanted else { return }
        if let failed, asked >= failed { self.failed = nil }
        full += 1
        let next = min(2 * rows, wanted)
        if let failed, next >= failed {
            if full < patience { return }
            patience *= 2
        }
        (rows, full) = (next, 0)
    }

    /// Notes the failure of a page with that number of rows.
    ///
    /// - Returns: whether a smaller page should be requested at once. After a timeout or a server failure that is left
    ///   to the next pull, unless smaller pages have come in this one: without a network each attempt would take as
    ///   long.
    mutating func shrinks(after error: SluiceError, asked: Int) -> Bool {
        guard asked > 1 else { return false }
        // A page with fewer rows than requested shows nothing of a full one.
        let hasComeSmaller = 0 < filled && filled < asked
        if brought >= asked { brought = 0 }
        switch error.code {
        case .tooLarge where error.mayBeOfPage: shrink(to: max(brought, asked / 2), from: asked)
        // A number that the server has accepted before is not the reason of a refusal.
        case .rejected where [400, 422].contains(error.status) && asked > came:
            shrink(to: max(came, asked / 10), from: asked)
        case .timeout:
            shrink(to: max(brought, asked / 2), from: asked)
            return hasComeSmaller
        case .serverFailure where error.mayBeOfWork:
            shrink(to: max(brought, asked / 10), from: asked)
            return hasComeSmaller
        default: return false
        }
        return true
    }

    private mutating func shrink(to smaller: Int, from asked: Int) {
        (rows, failed, full) = (max(1, smaller), asked, 0)
    }
}

extension SluiceError {
    /// Whether the answer, not the request, was too large.
    var mayBeOfPage: Bool { code == .tooLarge && ![414, 431].contains(status) }

    /// Whether a smaller page might succeed: servers and gateways give up on a page with any of these statuses.
    fileprivate var mayBeOfWork: Bool { status.map { [200, 408].contains($0) || $0 >= 500 && $0 != 501 } ?? false }
}

// MARK: In the store

extension PageSize {
    /// The sync table of the sizes that differ from the options', one record for each table of a server.
    static let schema = TableSchema("sluice_page_sizes", columns: [.init("rows", .integer), .init("failed", .integer)])

    private static func id(_ table: String, of endpoint: String) -> RecordID {
        RecordID(JSON([JSON(endpoint), JSON(table)]).description)
    }

    /// Reads the size learnt in earlier pulls of the table.
    init(wanted: Int, of table: String, at endpoint: String, in store: any StoreReader) throws {
        let record = try store.record(Self.id(table, of: endpoint), in: Self.schema.name)
        func number(_ name: PropertyName) -> Int? { record?[name]?.int.map { Int(clamping: $0) } }
        self.init(wanted: wanted, rows: number("rows"), failed: number("failed"))
    }

    /// The size for the first page of the next pull: smaller than one that failed, which might end that pull.
    private var next: Int { failed.map { rows < $0 ? rows : max(1, min(came, $0 - 1)) } ?? rows }

    /// Saves the size for the next pull.
    func save(_ table: String, of endpoint: String, in store: any StoreWriter) throws {
        let (id, rows) = (Self.id(table, of: endpoint), next)
        if rows == wanted { return try store.delete([id], from: Self.schema.name) }
        try store.put(
            ["id": JSON(id), "rows": JSON(rows), "failed": failed.map { JSON($0) } ?? .null], in: Self.schema.name)
    }
}
