internal import Synchronization

/// What waits for a consumer, bounded: each kind of event defines what is left out when the consumer is slow.
protocol Backlog: Sendable {
    associatedtype Element: Sendable
    var isEmpty: Bool { get }
    mutating func append(_ element: Element)
    mutating func popFirst() -> Element?
}

/// The newest events; of more than `limit` the oldest are left out.
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

/// Where events wait for one consumer. Who sends never waits. A wait that is cancelled ends that wait alone: the next
/// one gets what has come meanwhile.
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

    /// The next event if there is one by now.
    func poll() -> Contents.Element? { state.withLock { $0.contents.popFirst() } }

    /// Waits for the next event; nil once the task is cancelled.
    func next() async -> Contents.Element? {
        while !Task.isCancelled {
            if let element = poll() { return element }
            await wait()
        }
        return nil
    }

    /// Waits until there is something or the task is cancelled.
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
