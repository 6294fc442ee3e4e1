package import SluiceBase
internal import SluiceWire

/// How far a pull has come.
package struct CursorPosition: Sendable, Hashable {
    /// By what the server's changes are followed.
    package var grade: PullGrade
    /// The token after which all is still to come.
    package var token: String?
    /// The `updatedAt` up to which all is here, as the server wrote it; empty where none is known.
    package var updatedAt: String
    /// The id up to which all rows of that very time are here; nil where they have to be read again.
    package var id: RecordID?
    /// Whether rows without a time have been found, so that a server which refuses to be asked for them is in error.
    var hasUntimed: Bool
    /// What is known of the clock that stamps the server's rows; nil where the server sends no `Date`.
    var clock: ServerClock?

    init(
        grade: PullGrade = .timestamps, token: String? = nil, updatedAt: String, id: RecordID? = nil,
        hasUntimed: Bool = false, clock: ServerClock? = nil
    ) {
        self.grade = grade
        self.token = token
        self.updatedAt = updatedAt
        self.id = id
        self.hasUntimed = hasUntimed
        self.clock = clock
    }

    /// A position by token.
    package init(token: String) { self.init(grade: .changeTokens, token: token, updatedAt: "") }

    /// No position: all rows are to be read every time.
    package static let full = CursorPosition(grade: .full, updatedAt: "")
}

/// How a named pull follows the server's changes. The pull finds out what the server can do; whatever it is, no row
/// is skipped.
public enum PullGrade: String, Sendable, Hashable, CaseIterable {
    /// By tokens that the server issues in the order in which changes were committed.
    case changeTokens
    /// By time of change and id together.
    case keyset
    /// By time of change alone; rows of one time are read until none is new.
    case timestamps
    /// Not at all: the server does not sort by time of change, so every pull brings all rows of the query.
    case full
}
