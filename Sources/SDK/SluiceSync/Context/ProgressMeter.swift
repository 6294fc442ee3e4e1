public import SluiceBase
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

    /// Adds the body of a push's request before it is sent.
    func sends(_ request: SyncRequest) {
        guard request.context.source == .push, !request.body.isEmpty else { return }
        state.withLock { $0.progress.bytes += request.body.bytes.count }
    }

    /// Counts an answered request: its bytes for a pull, its operation for a push.
    func received(_ response: SyncResponse, to request: SyncRequest) {
        let progress = state.withLock { state -> SyncProgress? in
            switch state.progress.step {
            case .pulling:
                if request.context.source == .pull { state.progress.bytes += response.body.bytes.count }
            case .pushing:
                guard let id = request.context.operationID, state.answered.insert(id).inserted else { return nil }
                state.progress.rows += 1
                // The total grows with operations that were queued during the push.
                state.progress.total = state.progress.total.map { max($0, state.progress.rows) }
                return state.progress
            }
            return nil
        }
        if let progress { tell(progress) }
    }

    /// Reports the number of rows that a pull has processed, and of all rows if known.
    func stored(_ rows: Int, of total: Int?) {
        tell(
            state.withLock { state in
                (state.progress.rows, state.progress.total) = (rows, total)
                return state.progress
            })
    }
}

/// The progress of a push or a pull.
public struct SyncProgress: Sendable, Hashable, JSONPrinted {
    /// The kind of work.
    public enum Step: String, Sendable, Hashable, CaseIterable, Encodable {
        /// A push.
        case pushing
        /// A pull.
        case pulling
    }

    /// The kind of work.
    public var step: Step
    /// The table of a pull; nil for a push, which is of all tables.
    public var table: String?
    /// The number of rows that a pull has processed, or of operations of a push that the server has answered.
    public var rows = 0
    /// The number of body bytes that a pull has received, decoded, or that a push has sent, repeats included.
    public var bytes = 0
    /// The number of rows in all, if known. For a push: the operations that waited when it began. For a pull: the rows
    /// that the server counted at the first page, see ``PullOptions/countsRows``.
    public var total: Int?
}
