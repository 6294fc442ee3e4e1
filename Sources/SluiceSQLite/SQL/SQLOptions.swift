internal import SluiceCore

/// How much one SQL statement may take. A statement that goes past a limit throws ``SluiceError`` of code
/// `limitReached`, and gives no rows.
public struct SQLOptions: Sendable, Hashable {
    /// How long the statement may run. The time that it waits for another statement does not count.
    public var timeLimit: Duration
    /// How many rows it may give.
    public var rowLimit: Int
    /// How many bytes its rows may have together: the bytes of each text, and 8 for each other value.
    public var byteLimit: Int

    /// Options; by default 5 seconds, 100,000 rows and 64 MiB.
    public init(timeLimit: Duration = .seconds(5), rowLimit: Int = 100_000, byteLimit: Int = 64 << 20) {
        self.timeLimit = timeLimit
        self.rowLimit = rowLimit
        self.byteLimit = byteLimit
    }

    /// - Throws: ``SluiceError`` of code `invalidArgument` for a limit that is negative, or a time of nothing.
    func check() throws(SluiceError) {
        guard timeLimit > .zero else {
            throw SluiceError(.invalidArgument, "the time limit of a statement is more than zero, not \(timeLimit)")
        }
        for (limit, name) in [(rowLimit, "row limit"), (byteLimit, "byte limit")] where limit < 0 {
            throw SluiceError(.invalidArgument, "the \(name) of a statement cannot be \(limit)")
        }
    }
}
