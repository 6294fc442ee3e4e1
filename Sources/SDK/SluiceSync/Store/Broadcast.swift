internal import Synchronization

/// Delivers each event to every subscriber, in the order of subscription. A subscriber only stores it and never waits.
final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var subscribers: [Int: @Sendable (Element) -> Void] = [:]
        var nextID = 0
    }
    private let state = Mutex(State())

    var isObserved: Bool { state.withLock { !$0.subscribers.isEmpty } }

    func send(_ element: Element) {
        state.withLock { state in
            for (_, deliver) in state.subscribers.sorted(by: { $0.key < $1.key }) { deliver(element) }
        }
    }

    /// Calls `deliver` with every later event, for as long as the subscription lives.
    func subscribe(_ deliver: @escaping @Sendable (Element) -> Void) -> Subscription {
        let id = state.withLock { state in
            state.nextID += 1
            state.subscribers[state.nextID] = deliver
            return state.nextID
        }
        return Subscription { [weak self] in self?.state.withLock { $0.subscribers[id] = nil } }
    }

    /// Returns a mailbox that receives every later event, for as long as the subscription lives.
    func subscribe<Contents: Backlog>(
        into contents: Contents
    ) -> (Mailbox<Contents>, Subscription) where Contents.Element == Element {
        let mailbox = Mailbox(contents)
        return (mailbox, subscribe { mailbox.send($0) })
    }
}

/// The consumer's handle of a subscription: events stop when it is released.
final class Subscription: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
