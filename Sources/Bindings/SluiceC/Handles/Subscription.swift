internal import CSluice
internal import Dispatch
internal import Glibc
internal import SluiceCore

/// Delivers a context's events to a callback, or keeps the next one of each kind until it is taken. Further events wait
/// in the engine, which bounds them.
final class Subscription: @unchecked Sendable {
    /// All open subscriptions.
    static let all = HandleTable<Subscription>(.subscription)

    private let context: OpenContext
    private let monitor = Monitor()
    /// All three only with the monitor: events, each with the continuation of the task that brought it; the tasks; and
    /// whether the subscription has ended.
    private var waiting: [(event: [UInt8], taken: CheckedContinuation<Void, Never>)] = []
    private var tasks: [Task<Void, Never>] = []
    private var isOver = false
    /// Holds a byte while an event or the end can be taken. Nil if a callback gets the events.
    private let pipe: Signal?
    /// The callbacks of this subscription that are queued or running.
    private let calls = DispatchGroup()

    /// Subscribes to events of these kinds. A callback's data is a pointer that only the callback follows.
    init(_ context: OpenContext, _ kinds: UInt32, _ callback: EventCallback?) throws {
        self.context = context
        pipe = callback == nil ? try Signal() : nil
        // Each sequence begins here, so that no event after this call is missed.
        if kinds & SLUICE_CHANGES != 0 { bring(context.sync.changes, "changes", callback) { $0.json } }
        if kinds & SLUICE_PROGRESS != 0 { bring(context.sync.progress, "progress", callback) { $0.json } }
        if kinds & SLUICE_PHASES != 0 { bring(context.sync.statusUpdates, "phase", callback) { $0.json } }
    }

    private func bring<Event: Sendable>(
        _ events: SyncEvents<Event>, _ name: String, _ callback: EventCallback?,
        _ json: @escaping @Sendable (Event) -> JSON
    ) {
        let task = Task { [weak self] in
            for await event in events {
                let text = JSON(members: [("event", JSON(name))]).setting(json(event)).bytes()
                guard let self else { return }
                if let callback { await self.call(callback, text) } else { await self.offer(text) }
            }
        }
        monitor.locked { tasks.append(task) }
    }

    /// Keeps an event until it is taken.
    private func offer(_ event: [UInt8]) async {
        await withCheckedContinuation { taken in
            let isKept = monitor.locked {
                guard !isOver else { return false }
                if waiting.isEmpty { pipe?.set() }
                waiting.append((event, taken))
                monitor.signal()
                return true
            }
            if !isKept { taken.resume() }
        }
    }

    /// Takes an event, waiting for it up to so many milliseconds.
    func next(_ milliseconds: Int32) throws(Failure) -> [UInt8] {
        _ = try readable()
        let end = Monitor.time(after: max(0, milliseconds))
        let (event, taken) = try monitor.locked { () throws(Failure) -> ([UInt8], CheckedContinuation<Void, Never>) in
            var isInTime = milliseconds != 0
            while waiting.isEmpty, !isOver, isInTime {
                if milliseconds < 0 { monitor.wait() } else { isInTime = monitor.wait(until: end) }
            }
            guard !isOver else { throw Failure(SLUICE_ERROR_HANDLE, "the subscription's context is closed") }
            guard !waiting.isEmpty else { throw Failure(SLUICE_ERROR_TIMEOUT, "no event came in that time") }
            let first = waiting.removeFirst()
            if waiting.isEmpty { pipe?.clear() }
            return first
        }
        taken.resume()
        return event
    }

    /// Returns the descriptor that is readable while an event waits.
    func readable() throws(Failure) -> Int32 {
        guard let pipe else {
            throw Failure(SLUICE_ERROR_ARGUMENT, "this subscription's events go to its callback")
        }
        return pipe.reading
    }

    private func call(_ callback: EventCallback, _ event: [UInt8]) async {
        let document = event + [0]
        await withCheckedContinuation { continuation in
            context.events.async(group: calls) { [self] in
                if monitor.locked({ !isOver }) { CallbackPlace.event.during { callback.call(document) } }
                continuation.resume()
            }
        }
    }

    /// Ends the subscription. Outside of event callbacks it waits for a running one.
    func end() {
        let (waiting, tasks) = monitor.locked {
            // A polling thread wakes up, and learns from sluice_next that the subscription has ended.
            if self.waiting.isEmpty, !isOver { pipe?.set() }
            isOver = true
            monitor.signal()
            defer { self.waiting = [] }
            return (self.waiting, self.tasks)
        }
        for task in tasks { task.cancel() }
        for (_, taken) in waiting { taken.resume() }
        if CallbackPlace.current != .event { calls.wait() }
    }

    /// Ends the subscription of that handle because its context is closed. One with a descriptor keeps the handle, so
    /// that a thread that polls can still ask; its owner unsubscribes.
    static func finish(_ handle: UInt64) {
        guard let subscription = try? all.find(handle) else { return }
        subscription.end()
        if subscription.pipe == nil { _ = try? all.remove(handle) }
    }

    /// Ends the subscription on behalf of its owner.
    func unsubscribe(_ handle: UInt64) {
        context.forget(handle)
        end()
    }
}

/// A file descriptor that is readable while it is set.
private final class Signal: Sendable {
    let reading: Int32
    private let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(SLUICE_ERROR_OTHER, "there is no file descriptor: \(String(cString: strerror(errno)))")
        }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(reading)
        close(writing)
    }

    func set() {
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
    }

    func clear() {
        var byte: UInt8 = 0
        _ = read(reading, &byte, 1)
    }
}

/// The receiver of events. Only the callback follows its data pointer, so the type may be unchecked `Sendable`.
struct EventCallback: @unchecked Sendable {
    let callback: sluice_event_callback
    let data: UnsafeMutableRawPointer?

    /// Calls it with a document and a terminating NUL.
    func call(_ document: [UInt8]) {
        document.withUnsafeBytes {
            callback(data, $0.baseAddress?.assumingMemoryBound(to: CChar.self), document.count - 1)
        }
    }
}
