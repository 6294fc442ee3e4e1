internal import SluiceCore

/// A change that was made on another version than the server's.
struct ChangeConflict: Error {
    /// The server's record.
    let server: JSON
    /// The refusal that shows the record it is given, unless a hook merges.
    let answer: @Sendable (JSON) -> Refusal

    init(server: JSON, _ answer: @escaping @Sendable (JSON) -> Refusal) {
        self.server = server
        self.answer = answer
    }
}
