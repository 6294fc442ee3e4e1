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
