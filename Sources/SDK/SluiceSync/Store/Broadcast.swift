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

/// A bounded list of events for one consumer. Each kind of event defines which ones are dropped for a slow consumer.
protocol Backlog: Sendable {
    associatedtype Element: Sendable
    var isEmpty: Bool { get }
    mutating func append(_ element: Element)
    mutating func popFirst() -> Element?
}

/// The newest events; beyond `limit` the oldest are dropped.
struct Newest<Element: Sendable>: Backlog {
    let limit: Int
    private var elements: [Element] = []

    init(_ limit: Int) { self.limit = limit }

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element) {
        if elements.count == limit { elements.removeFirst() }
        elements.append(element)
    }

    mutating func popFirst() -> Element? { elements.isEmpty ? nil : elements.removeFirst() }
}

/// A queue of events for one consumer. Sending never waits. Cancelling a wait ends that wait alone: the next one gets
/// the events since.
final class Mailbox<Contents: Backlog>: Sendable {
    private struct State {
        var contents: Contents
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0
    }
    private let state: Mutex<State>

    init(_ contents: Contents) { state = Mutex(State(contents: contents)) }

    func send(_ element: Contents.Element) {
        let waiting = state.withLock { state in
            state.contents.append(element)
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Returns the next event, or nil if there is none yet.
    func poll() -> Contents.Element? { state.withLock { $0.contents.popFirst() } }

    /// Waits for the next event; returns nil once the task is cancelled.
    func next() async -> Contents.Element? {
        while !Task.isCancelled {
            if let element = poll() { return element }
            await wait()
        }
        return nil
    }

    /// Waits until there is an event or the task is cancelled.
    private func wait() async {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                let waits = state.withLock { state in
                    guard state.contents.isEmpty, !Task.isCancelled else { return false }
                    state.waiting[id] = waiter
                    return true
                }
                if !waits { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
