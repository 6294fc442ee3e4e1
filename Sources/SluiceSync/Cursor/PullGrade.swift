/// By what a named pull follows the server's changes. The pull finds out what the server can do; whatever it is, no row
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
