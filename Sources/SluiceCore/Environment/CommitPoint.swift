/// A place at which something becomes durable: between two of them a process may end, and nothing is lost.
///
/// ``SyncEnvironment/reached`` is told before and after each, so that a test can end the process there.
public enum CommitPoint: String, Sendable, Hashable, CaseIterable {
    /// A local change: row and operation.
    case localChange
    /// An operation is sealed: its final body and its request id, before the first byte goes out.
    case sealed
    /// An answer is here, and nothing of it is stored yet.
    case answered
    /// What the answer means is stored: row, base and queue together.
    case applied
    /// A page's rows and the cursor behind them.
    case page
    /// A query lets rows go.
    case membership
    /// The tables a store holds are changed.
    case schema
    /// A store's key is changed.
    case key

    /// On which side of a commit point something happens.
    public enum Side: String, Sendable, Hashable, CaseIterable {
        /// Nothing of it is durable yet.
        case before
        /// All of it is.
        case after
    }
}

extension LocalStore {
    /// Runs `body` as one transaction, says so before and after it, and publishes what it changed.
    ///
    /// - Parameter source: who changes records; nil for whom the point says.
    package func write<Result: Sendable>(
        at point: CommitPoint, _ environment: SyncEnvironment, from source: ChangeSource? = nil,
        _ body: @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        try await environment.reached(point, .before)
        let result: Result
        if let changes = environment.changes {
            result = try await changes.write(to: self, from: source ?? point.source, body)
        } else {
            result = try await write(body)
        }
        try await environment.reached(point, .after)
        return result
    }
}
