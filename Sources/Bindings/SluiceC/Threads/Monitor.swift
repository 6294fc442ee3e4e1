internal import Glibc

/// A lock with a condition, of POSIX, so that tools which watch threads know it. It guards what its owner says.
final class Monitor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // A clock that is set does not change how long a wait takes.
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

    /// Waits for a signal, with the lock held, which others can take meanwhile.
    func wait() { pthread_cond_wait(condition, mutex) }

    /// Waits for a signal until a time of the monotonic clock; false once that has come.
    func wait(until end: timespec) -> Bool {
        var end = end
        return pthread_cond_timedwait(condition, mutex, &end) == 0
    }

    /// Wakes all who wait.
    func signal() { pthread_cond_broadcast(condition) }

    /// Runs `body` with the lock free, inside of ``locked(_:)``.
    func unlocked(_ body: () -> Void) {
        pthread_mutex_unlock(mutex)
        body()
        pthread_mutex_lock(mutex)
    }

    /// The time of the monotonic clock after so many milliseconds.
    static func time(after milliseconds: Int32) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = time.tv_nsec + Int(milliseconds % 1000) * 1_000_000
        time.tv_sec += Int(milliseconds / 1000) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return time
    }
}
