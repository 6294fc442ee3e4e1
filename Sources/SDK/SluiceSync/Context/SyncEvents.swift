internal import Synchronization

/// Events of a sync context, from the moment of the request for the sequence.
///
/// A slow consumer holds nobody up, and its backlog is bounded: each kind of event documents its limit. The sequence
/// ends when its task is cancelled. Each sequence is for one reader; ask for another one to read twice.
public struct SyncEvents<Element: Sendable>: AsyncSequence, Sendable {
    private let following: @Sendable () async -> Element?

    init(_ following: @escaping @Sendable () async -> Element?) { self.following = following }

    /// Delivers the mailbox's contents while the subscription lives.
    init<Contents: Backlog>(
        _ mailbox: Mailbox<Contents>, _ subscription: Subscription
    ) where Contents.Element == Element {
        self.init {
            // Captured, so that it lives as long as the sequence.
            _ = subscription
            return await mailbox.next()
        }
    }

    /// Reads the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let following: @Sendable () async -> Element?

        /// Waits for the next event; nil once the task is cancelled.
        public mutating func next() async -> Element? { await following() }
    }

    /// Returns a reader of the events.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(following: following) }
}

extension SyncContext {
    /// The changes that are committed to the local store from now on. Each transaction comes once, after its commit,
    /// in the order of the commits; a rolled-back one does not come. Not included are changes of the engine's own
    /// tables, and writes of the application that bypass this context.
    ///
    /// For a slow consumer at most 256 batches and 10,000 changes are kept. Beyond that they become one batch that
    /// names the tables to read again. So does a transaction of more than 10,000 changes to a table.
    public var changes: SyncEvents<ChangeBatch> {
        let (mailbox, subscription) = hub.records.subscribe(into: ChangeBacklog())
        return SyncEvents(mailbox, subscription)
    }

    /// Calls `deliver` with each transaction's changes after its commit, as long as the returned object lives.
    package func watchChanges(_ deliver: @escaping @Sendable (ChangeBatch) -> Void) -> any AnyObject & Sendable {
        hub.records.subscribe(deliver)
    }

    /// The progress of every push and pull. Only the newest unread event is kept.
    public var progress: SyncEvents<SyncProgress> {
        let (mailbox, subscription) = watchers.subscribe(into: Newest(1))
        return SyncEvents(mailbox, subscription)
    }

    /// Returns the meter of a push or pull; nil if nobody watches.
    func meter(_ start: SyncProgress, _ callback: (@Sendable (SyncProgress) -> Void)?) -> ProgressMeter? {
        guard callback != nil || watchers.isObserved else { return nil }
        return ProgressMeter(start) { [watchers] progress in
            callback?(progress)
            watchers.send(progress)
        }
    }

    /// The phase of the context: first the current one, then each change. However a push or a pull ends, the last
    /// event reports the current state.
    ///
    /// For a slow consumer the newest 16 events are kept.
    public var statusUpdates: SyncEvents<SyncProgress.Phase> {
        let mailbox = Mailbox(StatusBacklog())
        let activities = board.subscribe { mailbox.send(.activity($0)) }
        let commits = hub.commits.subscribe { _ in mailbox.send(.committed) }
        let told = Mutex<(phase: SyncProgress.Phase?, held: Int)>((nil, 0))
        return SyncEvents { [store] in
            _ = (activities, commits)
            while let signal = await mailbox.next() {
                guard case .activity(let activity) = signal else { continue }
                if activity.step == nil, let held = try? await store.read({ try QueueReader($0).countOfHeld() }) {
                    told.withLock { $0.held = held }
                }
                let phase = told.withLock { told -> SyncProgress.Phase? in
                    let phase = activity.phase(held: told.held)
                    defer { told.phase = phase }
                    return phase == told.phase ? nil : phase
                }
                if let phase { return phase }
            }
            return nil
        }
    }
}
