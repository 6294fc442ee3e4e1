extension PullResult {
    /// The reason why a pull did more than fetch new rows.
    public enum Reason: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The server's clock was set since the last pull, back or forth: rows may have been written with times already
        /// pulled. The pull goes back, and ends with a reconcile.
        case clockWasSet
        /// Another or an unknown user has pulled the table into this store before. The pull starts over, and ends with a
        /// reconcile that removes the rows not visible to this user.
        case otherUser
        /// The server returns rows of one time in another order each time: this and every later pull reads all rows
        /// (``PullResult.Grade/full``).
        case noFixedOrder
        /// The server does not find rows by the times it wrote, for example because it reads them in another time zone:
        /// this and every later pull reads all rows (``PullResult.Grade/full``).
        case timesMisread
        /// The server refuses `$skip`, and too many rows have one time to read them without it: this and every later pull
        /// reads all rows (``PullResult.Grade/full``).
        case skipRefused

        /// Whether the reason leads to the grade ``PullResult.Grade/full``.
        package var explainsFull: Bool { [.noFixedOrder, .timesMisread, .skipRefused].contains(self) }

        /// The reason as text, for a person.
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
}
