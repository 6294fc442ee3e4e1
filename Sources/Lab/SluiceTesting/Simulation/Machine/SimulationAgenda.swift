internal import SluiceCore
internal import Synchronization

/// The pending events of a simulation: requests, answers and timers. It decides nothing; the world picks the next
/// event.
final class SimulationAgenda: Sendable {
    /// A request on its way to the server, or an answer on its way back.
    struct Parcel: Sendable {
        let number: Int
        let process: SimulatedProcess
        let request: SyncRequest
        /// The answer, once the server has returned it.
        var answer: SyncResponse?
    }

    /// A timer of a process.
    struct Alarm: Sendable {
        let number: Int
        let process: SimulatedProcess
        let due: Timestamp
    }

    private struct State {
        var next = 0
        var parcels: [Parcel] = []
        /// Lost parcels without an error: their senders wait for the deadline.
        var silent: [Parcel] = []
        var alarms: [Alarm] = []
        /// The senders that wait for an answer or a time; a parcel whose sender no longer waits has none.
        var answers: [Int: CheckedContinuation<SyncResponse, any Error>] = [:]
        var times: [Int: CheckedContinuation<Void, any Error>] = [:]
        /// The numbers of tasks that were cancelled before they began to wait.
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    var parcels: Int { state.withLock { $0.parcels.count } }

    /// Sends a request and waits until the world delivers an answer to it.
    func exchange(_ request: SyncRequest, of process: SimulatedProcess) async throws -> SyncResponse {
        let number = newNumber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state -> Bool in
                    if state.cancelled.remove(number) != nil { return true }
                    state.parcels.append(Parcel(number: number, process: process, request: request))
                    state.answers[number] = continuation
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// Waits until the world's clock says so.
    func wait(until due: Timestamp, of process: SimulatedProcess) async throws {
        let number = newNumber()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state -> Bool in
                    if state.cancelled.remove(number) != nil { return true }
                    state.alarms.append(Alarm(number: number, process: process, due: due))
                    state.times[number] = continuation
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func newNumber() -> Int {
        state.withLock {
            $0.next += 1
            return $0.next
        }
    }

    private func cancel(_ number: Int) {
        let (answer, time) = state.withLock { state in
            state.alarms.removeAll { $0.number == number }
            state.silent.removeAll { $0.number == number }
            let waiting = (state.answers.removeValue(forKey: number), state.times.removeValue(forKey: number))
            if waiting.0 == nil, waiting.1 == nil { state.cancelled.insert(number) }
            return waiting
        }
        answer?.resume(throwing: CancellationError())
        time?.resume(throwing: CancellationError())
    }

    /// Takes a parcel off the road.
    func takeParcel(_ index: Int) -> Parcel { state.withLock { $0.parcels.remove(at: index) } }

    /// Puts a parcel back on the road, with an answer.
    func put(_ parcel: Parcel) { state.withLock { $0.parcels.append(parcel) } }

    /// Loses a parcel without telling anyone.
    func lose(_ parcel: Parcel) { state.withLock { $0.silent.append(parcel) } }

    /// Takes the alarm that is due first, if it is due by then.
    func takeAlarm(dueBy time: Timestamp?) -> Alarm? {
        state.withLock { state in
            guard let first = state.alarms.min(by: { ($0.due, $0.number) < ($1.due, $1.number) }),
                time.map({ first.due <= $0 }) ?? true
            else { return nil }
            state.alarms.removeAll { $0.number == first.number }
            return first
        }
    }

    func ring(_ alarm: Alarm) { state.withLock { $0.times.removeValue(forKey: alarm.number) }?.resume() }

    /// Whether someone still waits for the parcel.
    func isAwaited(_ parcel: Parcel) -> Bool { state.withLock { $0.answers[parcel.number] != nil } }

    /// Gives a parcel's answer, or an error, to the task that waits for it.
    func end(_ parcel: Parcel, _ result: Result<SyncResponse, any Error>) {
        state.withLock { $0.answers.removeValue(forKey: parcel.number) }?.resume(with: result)
    }

    /// Wakes all that wait in a process that has ended; its requests go on to the server.
    func wake(_ process: SimulatedProcess) {
        let (answers, times) = state.withLock { state in
            let numbers = state.parcels.filter { $0.process === process }.map(\.number)
            let silent = state.silent.filter { $0.process === process }.map(\.number)
            state.silent.removeAll { $0.process === process }
            let alarms = state.alarms.filter { $0.process === process }.map(\.number)
            state.alarms.removeAll { $0.process === process }
            state.parcels.removeAll { $0.process === process && $0.answer != nil }
            return (
                (numbers + silent).compactMap { state.answers.removeValue(forKey: $0) },
                alarms.compactMap { state.times.removeValue(forKey: $0) }
            )
        }
        for answer in answers { answer.resume(throwing: SimulatedCrash()) }
        for time in times { time.resume(throwing: SimulatedCrash()) }
    }
}
