internal import Glibc

/// A POSIX lock with a condition, so that tools for thread analysis know it. Its owner documents the guarded state.
final class Monitor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Setting the system's clock does not change the length of a wait.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with the lock held.
    func locked<Result, Problem>(_ body: () throws(Problem) -> Result) throws(Problem) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Waits for a signal, with the lock held; others can take it during the wait.
    func wait() { pthread_cond_wait(condition, mutex) }

    /// Waits for a signal until a time of the monotonic clock; false once it has passed.
    func wait(until end: timespec) -> Bool {
        var end = end
        return pthread_cond_timedwait(condition, mutex, &end) == 0
    }

    /// Wakes all waiting threads.
    func signal() { pthread_cond_broadcast(condition) }

    /// Runs `body` with the lock free, inside of ``locked(_:)``.
    func unlocked(_ body: () -> Void) {
        pthread_mutex_unlock(mutex)
        body()
        pthread_mutex_lock(mutex)
    }

    /// Returns the time of the monotonic clock after so many milliseconds.
    static func time(after milliseconds: Int32) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = time.tv_nsec + Int(milliseconds % 1000) * 1_000_000
        time.tv_sec += Int(milliseconds / 1000) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return time
    }
}
