/// The number of rows that the database is asked for at a time: of small ones some hundreds, of large ones so few that those which
/// are held at once are a few megabytes.
struct FetchSize {
    private static let least = 32
    private static let most = 512
    private static let bytes = 4 << 20

    private(set) var rows = Self.least

    /// Notes what came.
    mutating func note(rows count: Int, bytes: Int) {
        guard count > 0 else { return }
        let fitting = Self.bytes / max(1, bytes / count)
        // Few different numbers make few different statements.
        rows = fitting >= Self.most ? Self.most : fitting >= Self.least ? Self.least : max(1, fitting)
    }
}
