internal import SluiceBase

/// The part of a named pull that reads the rows whose time of change is null, as a full pull reads all rows.
///
/// Servers return such rows first, last, or not at all when filtering by time, so they cannot be reached by time. The
/// pass also takes rows that a server sends despite the condition.
struct NullTimePass: Sendable {
    private var session: FullPullSession

    /// - Parameter sorts: whether the server follows the requested order; nil if unknown.
    init(pageSize: Int, sorts: Bool?) {
        session = FullPullSession(query: TableQuery(""), pageSize: pageSize, sorts: sorts)
    }

    /// Handles an event and returns the next effect.
    mutating func handle(_ event: PullEvent) -> PullEffect {
        let effect = session.handle(event)
        guard case .request(var request) = effect else { return effect }
        switch request.position {
        case .behindID(let id): request.position = .withoutTime(behindID: id)
        case .upToID(let id): request.position = .withoutTimeUpToID(id)
        default: request.position = .withoutTime(behindID: nil)
        }
        return .request(request)
    }
}
