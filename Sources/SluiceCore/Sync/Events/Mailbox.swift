internal import Synchronization

/// What waits for a consumer, bounded: each kind of event says what is left out when the consumer is slow.
protocol Backlog: Sendable {
    associatedtype Element: Sendable
    mutating func append(_ element: Element)
    mutating func popFirst() -> Element?
}

/// The newest events; of more than `limit` the oldest are left out.
struct Newest<Element: Sendable>: Backlog {
    let limit: Int
    private var elements: [Element] = []

    init(_ limit: Int) { self.limit = limit }

    mutating func append(_ element: Element) {
        if elements.count == limit { elements.removeFirst() }
        elements.append(element)
    }

    mutating func popFirst() -> Element? { elements.isEmpty ? nil : elements.removeFirst() }
}

/// Where events wait for one consumer. Who sends never waits.
final class Mailbox<Contents: Backlog>: Sendable {
    private let contents: Mutex<Contents>
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(_ contents: Contents) {
        self.contents = Mutex(contents)
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func send(_ element: Contents.Element) {
        contents.withLock { $0.append(element) }
        wake.yield()
    }

    /// The next event if there is one by now.
    func poll() -> Contents.Element? { contents.withLock { $0.popFirst() } }

    /// Waits for the next event; nil once the task is cancelled.
    func next() async -> Contents.Element? {
        var iterator = wakeups.makeAsyncIterator()
        while !Task.isCancelled {
            if let element = poll() { return element }
            if await iterator.next() == nil { return nil }
        }
        return nil
    }
}
