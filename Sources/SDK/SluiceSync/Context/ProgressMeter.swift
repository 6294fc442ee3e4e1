internal import SluiceWire
internal import Synchronization

/// Measures one push or pull for its watchers; without a watcher there is none.
final class ProgressMeter: ExchangeMeter {
    private struct State {
        var progress: SyncProgress
        var answered: Set<String> = []
    }
    private let state: Mutex<State>
    private let tell: @Sendable (SyncProgress) -> Void

    init(_ progress: SyncProgress, _ tell: @escaping @Sendable (SyncProgress) -> Void) {
        state = Mutex(State(progress: progress))
        self.tell = tell
    }

    /// A request is about to be sent.
    func sends(_ request: Request) {
        guard request.context.source == .push, !request.body.isEmpty else { return }
        state.withLock { $0.progress.bytes += request.body.bytes.count }
    }

    /// A request was answered.
    func received(_ response: Response, to request: Request) {
        let progress = state.withLock { state -> SyncProgress? in
            switch state.progress.step {
            case .pulling:
                if request.context.source == .pull { state.progress.bytes += response.body.bytes.count }
            case .pushing:
                guard let id = request.context.operationID, state.answered.insert(id).inserted else { return nil }
                state.progress.rows += 1
                // Operations that came in since are more than there were.
                state.progress.total = state.progress.total.map { max($0, state.progress.rows) }
                return state.progress
            }
            return nil
        }
        if let progress { tell(progress) }
    }

    /// A pull has dealt with so many rows.
    func stored(_ rows: Int) {
        tell(
            state.withLock { state in
                state.progress.rows = rows
                return state.progress
            })
    }
}

/// How far a push or a pull has come.
public struct SyncProgress: Sendable, Hashable {
    /// What is being done.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        /// A push.
        case pushing
        /// A pull.
        case pulling
    }

    /// What is being done.
    public var step: Step
    /// The table of a pull; nil for a push, which is of all tables.
    public var table: String?
    /// How many rows a pull has dealt with, or how many operations of a push the server has answered.
    public var rows = 0
    /// How many bytes of bodies a pull has received, decoded, or a push has sent, repeats included.
    public var bytes = 0
    /// How many rows there will be in all, where that is known: for a push the operations that waited when it began.
    public var total: Int?
}
