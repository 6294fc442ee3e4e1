/// Why a pull did more than bring what is new.
public enum PullReason: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The server's clock was set since the last pull, back or forth: rows may have been written with times that were
    /// pulled before. The pull goes back, and ends with a reconcile.
    case clockWasSet
    /// Another user has pulled the table into this store before, or one of whom nothing is known. The pull starts
    /// afresh, and ends with a reconcile that removes what this user does not see.
    case otherUser
    /// The server gives out rows of one time in another order each time: all rows are read, by this pull and by each
    /// that follows (``PullGrade/full``).
    case noFixedOrder
    /// The server does not find rows by the time that it wrote itself, as one that reads times in another zone: all
    /// rows are read, by this pull and by each that follows (``PullGrade/full``).
    case timesMisread
    /// The server refuses `$skip`, and more rows have one time than can be told apart without it: all rows are read, by
    /// this pull and by each that follows (``PullGrade/full``).
    case skipRefused

    /// Whether it is a reason for the grade ``PullGrade/full``.
    package var explainsFull: Bool { [.noFixedOrder, .timesMisread, .skipRefused].contains(self) }

    /// The reason in words.
    public var description: String {
        switch self {
        case .clockWasSet:
            "the server's clock was set since the last pull, so all that is here was compared with the server's rows"
        case .otherUser:
            "another user has pulled this table into the store, so it was pulled afresh and compared with the "
                + "server's rows"
        case .noFixedOrder:
            "the server gives out rows of one time in another order each time, so all rows are read by each pull"
        case .timesMisread:
            "the server does not find rows by the times that it writes, so all rows are read by each pull"
        case .skipRefused:
            "the server refuses $skip, by which rows of one time are read, so all rows are read by each pull"
        }
    }
}
