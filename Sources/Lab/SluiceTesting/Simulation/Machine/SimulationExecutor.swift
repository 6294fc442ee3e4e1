internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Runs all tasks of a simulation on the thread that created it, one job at a time, in an order that the caller picks.
///
/// Tasks started with it stay on it, as do their child tasks and the default actors they call. Before it picks the next
/// job, it waits for stores that work on a thread of their own, so that their speed changes nothing.
final class SimulationExecutor: TaskExecutor {
    private struct State {
        var ready: [(job: UnownedJob, isForeign: Bool)] = []
        var head = 0
        /// The number of calls under way on other threads.
        var outside = 0
        /// The number of ready jobs that such a thread has enqueued.
        var arrived = 0
    }

    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)
    private let thread = SimulationExecutor.currentThread

    private static var currentThread: UInt {
        #if canImport(Glibc)
            UInt(pthread_self())
        #else
            UInt(bitPattern: pthread_self())
        #endif
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isForeign = Self.currentThread != thread
        state.withLock { state in
            state.ready.append((job, isForeign))
            if isForeign { state.arrived += 1 }
        }
        if isForeign { arrival.signal() }
    }

    /// Runs jobs until none is ready.
    ///
    /// - Parameter pick: returns the index of the next job, given the number of ready ones.
    func drain(_ pick: (Int) -> Int) {
        while let job = next(pick) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs a call that leaves this thread.
    func outside<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        leave()
        defer { comeBack() }
        return try await body()
    }

    // Not inlined around the wait: a mutex there would take the thread before the wait for the thread after it.
    @inline(never)
    private func leave() { state.withLock { $0.outside += 1 } }

    @inline(never)
    private func comeBack() { state.withLock { $0.outside -= 1 } }

    private enum Next { case job(UnownedJob), wait, none }

    private func next(_ pick: (Int) -> Int) -> UnownedJob? {
        while true {
            let next = state.withLock { state -> Next in
                if state.outside > state.arrived { return .wait }
                let count = state.ready.count - state.head
                guard count > 0 else {
                    state.ready.removeAll(keepingCapacity: true)
                    state.head = 0
                    return .none
                }
                let index = state.head + (count > 1 ? pick(count) : 0)
                state.ready.swapAt(state.head, index)
                let (job, isForeign) = state.ready[state.head]
                state.head += 1
                if isForeign { state.arrived -= 1 }
                return .job(job)
            }
            switch next {
            case .job(let job): return job
            case .none: return nil
            case .wait: arrival.wait()
            }
        }
    }
}
