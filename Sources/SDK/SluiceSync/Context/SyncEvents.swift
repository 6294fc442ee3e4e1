/// Events of a sync context, from the moment at which the sequence was asked for.
///
/// A consumer that is slow holds nobody up, and what waits for it is bounded: each kind of event says what is left out.
/// The sequence ends when the task that reads it is cancelled. Each sequence is for one reader; ask for another one to
/// read twice.
public struct SyncEvents<Element: Sendable>: AsyncSequence, Sendable {
    private let following: @Sendable () async -> Element?

    init(_ following: @escaping @Sendable () async -> Element?) { self.following = following }

    /// All that the mailbox gets while the subscription lives.
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

    /// A reader of the events.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(following: following) }
}
