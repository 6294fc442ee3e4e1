internal import SluiceBase

/// Who changed records of the local store.
public enum ChangeSource: String, Sendable, Hashable, CaseIterable {
    /// The application, or someone who repairs the queue.
    case local
    /// A push: the server's answer to a change that was made here.
    case push
    /// A pull.
    case pull
    /// A push that met a conflict: the decision's outcome.
    case conflict
    /// A purge.
    case purge
}

extension CommitPoint {
    /// Who changes records at that point, unless the caller names another.
    var source: ChangeSource {
        switch self {
        case .localChange, .schema, .key: .local
        case .sealed, .answered, .applied: .push
        case .page, .membership: .pull
        }
    }
}
