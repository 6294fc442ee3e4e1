internal import SluiceBase
internal import SluiceWire

/// The number of rows that a pull asks for at once: fewer after a page that could not come, because it was too large, too slow or
/// more than the server gives at once, and more again after pages that came.
struct PageSize: Sendable, Hashable {
    /// The number by the options.
    let wanted: Int
    private(set) var rows: Int
    /// The smallest number at which a page did not come.
    private(set) var failed: Int?
    /// The largest number at which one came in this pull, and the largest number of rows that one had.
    private var (came, brought) = (0, 0)
    /// The number of full pages that came one after the other, and that have to before a number is tried that has failed.
    private var (full, patience) = (0, 8)

    init(wanted: Int, rows: Int? = nil, failed: Int? = nil) {
        self.wanted = max(1, wanted)
        self.rows = min(max(1, rows ?? wanted), max(1, wanted))
        self.failed = failed
    }

    /// Whether the next pull should know it.
    func isOther(than known: PageSize) -> Bool { (rows, failed) != (known.rows, known.failed) }

    /// Takes a page that came.
    mutating func take(_ count: Int, of asked: Int) {
        (came, brought) = (max(came, asked), max(brought, min(count, asked)))
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

    /// Takes the reason why a page of so many rows did not come.
    ///
    /// - Returns: whether a smaller one is worth asking for at once. After a page that took too long, or a fault of the
    ///   server, that is left to the next pull, unless only smaller ones have come in this one: without a network each try
    ///   would take as long.
    mutating func shrinks(after error: SluiceError, asked: Int) -> Bool {
        guard asked > 1 else { return false }
        let hasComeSmaller = brought > 0 && came < asked
        if brought >= asked { brought = 0 }
        switch error.code {
        case .tooLarge where error.mayBeOfPage: shrink(to: max(brought, asked / 2), from: asked)
        // What a server has given before it does not refuse for the number.
        case .rejected where error.status == 400 && asked > came: shrink(to: max(came, asked / 10), from: asked)
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
    /// Whether an answer was too large, and not the request.
    var mayBeOfPage: Bool { code == .tooLarge && ![414, 431].contains(status) }

    /// Whether less to do might have been done: a server or what stands before it gives up on a page under any of these.
    fileprivate var mayBeOfWork: Bool { status.map { [200, 408].contains($0) || $0 >= 500 && $0 != 501 } ?? false }
}

// MARK: In the store

extension PageSize {
    /// The table of the store in which sizes are kept that differ from the options', one record for each table of a server.
    static let schema = TableSchema("sluice_page_sizes", columns: [.init("rows", .integer), .init("failed", .integer)])

    private static func id(_ table: String, of endpoint: String) -> RecordID {
        RecordID(JSON([JSON(endpoint), JSON(table)]).description)
    }

    /// Reads what earlier pulls have learnt of the table.
    init(wanted: Int, of table: String, at endpoint: String, in store: any StoreReader) throws {
        let record = try store.record(Self.id(table, of: endpoint), in: Self.schema.name)
        func number(_ name: PropertyName) -> Int? { record?[name]?.int.map { Int(clamping: $0) } }
        self.init(wanted: wanted, rows: number("rows"), failed: number("failed"))
    }

    /// Keeps it for the next pull.
    func save(_ table: String, of endpoint: String, in store: any StoreWriter) throws {
        let id = Self.id(table, of: endpoint)
        if rows == wanted { return try store.delete([id], from: Self.schema.name) }
        try store.put(
            ["id": JSON(id), "rows": JSON(rows), "failed": failed.map { JSON($0) } ?? .null], in: Self.schema.name)
    }
}
