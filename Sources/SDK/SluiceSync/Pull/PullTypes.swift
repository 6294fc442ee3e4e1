package import SluiceBase

/// A page of rows, with the data that the session needs.
package struct PullPage: Sendable {
    /// The rows in the order of arrival.
    package var rows: [RowPage.Row]
    /// The time of the server's answer, by its own clock.
    var serverDate: Timestamp?
    /// The time of the request, by the local clock.
    var askedDate: Timestamp?
    /// The time of the page's arrival, by the local clock.
    var localDate: Timestamp?
    /// The token after the page, from a server with change tokens.
    package var token: String?
    /// Whether the server reports that nothing follows the token for now.
    package var isLast: Bool
    /// The number of requested rows; nil for as many as the session wanted.
    var asked: Int?
    /// Whether the answer links to another page.
    var linksOn = false
    /// The number of all rows, if it was requested and the server counts them.
    var total: Int?

    package init(
        rows: [RowPage.Row], serverDate: Timestamp? = nil, askedDate: Timestamp? = nil, localDate: Timestamp? = nil,
        token: String? = nil, isLast: Bool = false, asked: Int? = nil,
        linksOn: Bool = false, total: Int? = nil
    ) {
        self.total = total
        self.linksOn = linksOn
        self.asked = asked
        self.rows = rows
        self.serverDate = serverDate
        self.askedDate = askedDate
        self.localDate = localDate
        self.token = token
        self.isLast = isLast
    }

    /// Whether rows of one time stand in the order of their ids.
    package var sortsTies: Bool {
        zip(rows, rows.dropFirst()).allSatisfy { one, next in
            one.updatedAt == nil || one.updatedAt != next.updatedAt || one.isUnfit || next.isUnfit
                || IDOrder.isAscending([one.id, next.id])
        }
    }

    /// Whether all orders in use sort the ids of its rows, and the given id, alike.
    package func isUniform(with id: RecordID? = nil) -> Bool {
        IDOrder.isUniform(rows.filter { !$0.isUnfit }.map(\.id) + (id.map { [$0] } ?? []))
    }
}

/// The input of a pull session.
enum PullEvent: Sendable {
    /// The pull begins.
    case began
    /// The requested page.
    case page(PullPage)
    /// The answer to a question.
    case answer(PullPage)
    /// The page and the cursor are stored.
    case committed
    /// A request or the store failed.
    case failed(SluiceError)
}

/// The output of a pull session: an action for its driver.
enum PullEffect: Sendable {
    /// Ask for a page.
    case request(PullRequest)
    /// Request rows to check the last page, which may still be stored.
    case ask(PullRequest)
    /// Store those rows of the page, and the cursor, in one transaction.
    case commit(rows: [Int], cursor: CursorPosition?)
    /// End the pull; nil means without an error.
    case finish(SluiceError?)
}

/// The page to request, on top of the user's query.
package struct PullRequest: Sendable, Hashable {
    /// The start of the page.
    package enum Position: Sendable, Hashable {
        /// The first rows.
        case start
        /// The first rows, with a change token after them if the server issues any.
        case tracked
        /// Rows committed after that token.
        case token(String)
        /// Rows changed at or after that time, as the server wrote it.
        case changedSince(String)
        /// Rows changed at or after that time, or at any time for nil, except the rows with these ids.
        case others(since: String?, than: [RecordID])
        /// Rows changed after that time, or at it and with an id after that one.
        case after(time: String, id: RecordID)
        /// The same, beginning with that row itself.
        case from(time: String, id: RecordID)
        /// The row with that id, whatever its time.
        case row(RecordID)
        /// Rows changed at exactly that time, up to and including that id, the last id first.
        case ties(time: String, id: RecordID)
        /// The rows changed last, the newest first.
        case newestFirst
        /// Rows in the order of their ids, beginning after that one; nil for all.
        case behindID(RecordID?)
        /// Rows up to and including that id, the last id first.
        case upToID(RecordID)
        /// Any row, with the count of all.
        case counted
        /// Rows without a time of change, with ids after that one; nil for all.
        case withoutTime(behindID: RecordID?)
        /// Rows without a time of change, up to and including that id, the last id first.
        case withoutTimeUpToID(RecordID)

        /// Whether some servers fail at this condition, because they cannot compare with null or for inequality.
        var mayBeUnknown: Bool {
            switch self {
            case .others, .withoutTime, .withoutTimeUpToID: true
            default: false
            }
        }
    }

    /// Whether the request continues after a token, or requests one.
    var asksForToken: Bool {
        switch position {
        case .tracked, .token: true
        default: tracks
        }
    }

    package var position: Position
    /// The number of rows to skip from there.
    package var skip: Int
    /// The number of rows to request.
    package var top: Int
    /// Whether a token is requested as well, as with ``Position/tracked``.
    var tracks: Bool
    /// Whether the number of all rows is requested as well.
    var isCounted = false

    package init(position: Position, skip: Int, top: Int, tracks: Bool = false) {
        self.position = position
        self.skip = skip
        self.top = top
        self.tracks = tracks
    }
}
