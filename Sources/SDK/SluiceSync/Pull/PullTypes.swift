internal import SluiceBase

/// A page's rows, as far as the session needs them.
struct PullPage: Sendable {
    /// The rows in the order in which they came.
    package var rows: [RowPage.Row]
    /// When the server answered, by its own clock.
    var serverDate: Timestamp?
    /// When the page was asked for, by the clock here.
    var askedDate: Timestamp?
    /// When the page came, by the clock here.
    var localDate: Timestamp?
    /// The token after the page, from a server that issues some.
    package var token: String?
    /// Whether the server says that nothing follows the token for now.
    package var isLast: Bool
    /// The number of rows that were asked for; nil for as many as the session wanted.
    var asked: Int?
    /// Whether the answer links to another page.
    var linksOn = false

    package init(
        rows: [RowPage.Row], serverDate: Timestamp? = nil, askedDate: Timestamp? = nil, localDate: Timestamp? = nil,
        token: String? = nil, isLast: Bool = false, asked: Int? = nil,
        linksOn: Bool = false
    ) {
        self.linksOn = linksOn
        self.asked = asked
        self.rows = rows
        self.serverDate = serverDate
        self.askedDate = askedDate
        self.localDate = localDate
        self.token = token
        self.isLast = isLast
    }

    /// Whether all orders in use sort the ids of its rows, and that one, alike.
    func isUniform(with id: RecordID? = nil) -> Bool {
        IDOrder.isUniform(rows.filter { !$0.isUnfit }.map(\.id) + (id.map { [$0] } ?? []))
    }
}

/// What the session receives.
enum PullEvent: Sendable {
    /// The pull begins.
    case began
    /// The page that was asked for.
    case page(PullPage)
    /// The answer to a question.
    case answer(PullPage)
    /// The page and the cursor are stored.
    case committed
    /// A request or the store failed.
    case failed(SluiceError)
}

/// What the session asks its driver to do.
enum PullEffect: Sendable {
    /// Ask for a page.
    case request(PullRequest)
    /// Ask about rows of the page that was just given, which may still be stored.
    case ask(PullRequest)
    /// Store those rows of the page, and the cursor, in one transaction.
    case commit(rows: [Int], cursor: CursorPosition?)
    /// The pull is over; nil without an error.
    case finish(SluiceError?)
}

/// The page to ask for, on top of the user's query.
struct PullRequest: Sendable, Hashable {
    /// Where the page begins.
    enum Position: Sendable, Hashable {
        /// The first rows.
        case start
        /// The first rows, and a token after them, if the server issues any.
        case tracked
        /// Rows that were committed after that token.
        case token(String)
        /// Rows changed at or after that time, as the server wrote it.
        case changedSince(String)
        /// Rows changed at or after that time, any where there is none, except for those with these ids.
        case others(since: String?, than: [RecordID])
        /// Rows changed after that time, or at it and with an id after that one.
        case after(time: String, id: RecordID)
        /// The same, beginning with that row itself.
        case from(time: String, id: RecordID)
        /// The row with that id, whatever its time.
        case row(RecordID)
        /// Rows changed at that very time whose id is that one or before it, the last id first.
        case ties(time: String, id: RecordID)
        /// The rows that changed last, the last of all first.
        case newestFirst
        /// Rows in the order of their ids, those after that one; nil for all.
        case behindID(RecordID?)
        /// Rows whose id is that one or before it, the last id first.
        case upToID(RecordID)
        /// Rows without a time of change, whose id comes after that one.
        case withoutTime(behindID: RecordID?)
        /// Rows without a time of change whose id is that one or before it, the last id first.
        case withoutTimeUpToID(RecordID)

        /// Whether some servers fail at the question itself: those that compare with no null.
        var mayBeUnknown: Bool {
            switch self {
            case .withoutTime, .withoutTimeUpToID: true
            default: false
            }
        }
    }

    package var position: Position
    /// How many rows of there on to leave out.
    package var skip: Int
    /// How many rows to ask for.
    package var top: Int
    /// Whether the server is asked for a token as well, as ``Position/tracked`` does.
    var tracks: Bool

    package init(position: Position, skip: Int, top: Int, tracks: Bool = false) {
        self.position = position
        self.skip = skip
        self.top = top
        self.tracks = tracks
    }
}
