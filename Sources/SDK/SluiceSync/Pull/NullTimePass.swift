internal import SluiceBase

/// The part of a named pull that reads the rows whose time of change is null, as a full pull reads all rows.
///
/// Servers give them out first, last, or not at all when asked for a time, so that no time leads to them. It takes rows
/// that a server sends in spite of the condition, too.
struct NullTimePass: Sendable {
    private var session: FullPullSession

    /// - Parameter sorts: whether the server sorts as it is asked to; nil if that is not known.
    init(pageSize: Int, sorts: Bool?) {
        session = FullPullSession(query: Query(""), pageSize: pageSize, sorts: sorts)
    }

    /// Takes an event and returns what to do next.
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
