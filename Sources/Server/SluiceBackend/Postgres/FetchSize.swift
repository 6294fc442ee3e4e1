/// The number of rows to fetch at a time: some hundreds of small ones, or a few megabytes of large ones.
struct FetchSize {
    private static let least = 32
    private static let most = 512
    private static let bytes = 4 << 20

    private(set) var rows = Self.least

    /// Adapts the size to the fetched rows.
    mutating func note(rows count: Int, bytes: Int) {
        guard count > 0 else { return }
        let fitting = Self.bytes / max(1, bytes / count)
        // Few different sizes make few different prepared statements.
        rows = fitting >= Self.most ? Self.most : fitting >= Self.least ? Self.least : max(1, fitting)
    }
}
