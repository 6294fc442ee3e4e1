internal import Synchronization

extension SyncContext {
    /// What is committed to the local store from now on: each transaction once, after its commit, in the order of the
    /// commits, and none that was rolled back. Changes of the engine's own tables are not among them, nor what the
    /// application writes to the store past this context.
    ///
    /// Of what waits for a slow consumer at most 256 batches and 10,000 changes are kept; beyond that all that waits
    /// becomes one batch that names tables to read anew. So does a transaction of more than 10,000 changes to a table.
    public var changes: SyncEvents<ChangeBatch> {
        let (mailbox, subscription) = hub.records.subscribe(into: ChangeBacklog())
        return SyncEvents(mailbox, subscription)
    }

    /// Calls `deliver` with each transaction's changes after its commit, for as long as what is returned lives.
    package func watchChanges(_ deliver: @escaping @Sendable (ChangeBatch) -> Void) -> any AnyObject & Sendable {
        hub.records.subscribe(deliver)
    }

    /// How far each push and pull has come, whatever began it. Only the newest that was not read yet is kept.
    public var progress: SyncEvents<SyncProgress> {
        let (mailbox, subscription) = watchers.subscribe(into: Newest(1))
        return SyncEvents(mailbox, subscription)
    }

    /// What measures a push or pull for those who watch it; nil if nobody does.
    func meter(_ start: SyncProgress, _ callback: (@Sendable (SyncProgress) -> Void)?) -> ProgressMeter? {
        guard callback != nil || watchers.isObserved else { return nil }
        return ProgressMeter(start) { [watchers] progress in
            callback?(progress)
            watchers.send(progress)
        }
    }

    /// What the context is doing: first what it does now, then each change. However a push or a pull ends, the last
    /// event reports the state of now.
    ///
    /// Of what waits for a slow consumer the newest 16 events are kept.
    public var statusUpdates: SyncEvents<SyncPhase> {
        let mailbox = Mailbox(StatusBacklog())
        let activities = board.subscribe { mailbox.send(.activity($0)) }
        let commits = hub.commits.subscribe { _ in mailbox.send(.committed) }
        let told = Mutex<(phase: SyncPhase?, held: Int)>((nil, 0))
        return SyncEvents { [store] in
            _ = (activities, commits)
            while let signal = await mailbox.next() {
                guard case .activity(let activity) = signal else { continue }
                if activity.step == nil, let held = try? await store.read({ try QueueReader($0).countOfHeld() }) {
                    told.withLock { $0.held = held }
                }
                let phase = told.withLock { told -> SyncPhase? in
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
