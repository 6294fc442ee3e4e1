package import SluiceBase
internal import SluiceWire

/// The position of a pull.
package struct CursorPosition: Sendable, Hashable {
    /// The method by which the server's changes are followed.
    package var grade: PullResult.Grade
    /// The change token; all changes after it are still to come.
    package var token: String?
    /// The `updatedAt` up to which all rows are stored, as the server wrote it; empty where none is known.
    package var updatedAt: String
    /// The id up to which all rows of exactly that time are stored; nil where they have to be read again.
    package var id: RecordID?
    /// Whether rows without a time have been found. If so, a server's refusal to list them is an error.
    var hasUntimed: Bool
    /// The latest observation of the clock that stamps the server's rows; nil where the server sends no `Date`.
    var clock: ServerClock?

    init(
        grade: PullResult.Grade = .timestamps, token: String? = nil, updatedAt: String, id: RecordID? = nil,
        hasUntimed: Bool = false, clock: ServerClock? = nil
    ) {
        self.grade = grade
        self.token = token
        self.updatedAt = updatedAt
        self.id = id
        self.hasUntimed = hasUntimed
        self.clock = clock
    }

    /// Makes a position by token.
    package init(token: String) { self.init(grade: .changeTokens, token: token, updatedAt: "") }

    /// No position: all rows are to be read every time.
    package static let full = CursorPosition(grade: .full, updatedAt: "")
}

extension PullResult {
    /// The method by which a named pull follows the server's changes. The pull detects the server's abilities; every method
    /// skips no row.
    public enum Grade: String, Sendable, Hashable, CaseIterable, Encodable {
        /// By tokens issued by the server in commit order.
        case changeTokens
        /// By time of change and id together.
        case keyset
        /// By time of change alone; rows of one time are read until none is new.
        case timestamps
        /// Not at all: the server does not sort by time of change, so every pull brings all rows of the query.
        case full
    }
}
