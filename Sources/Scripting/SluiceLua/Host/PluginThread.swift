internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The single thread of all scripts: an executor with a stack of known size.
///
/// A script can make C recurse up to half a megabyte deep, more than some thread pools allow. And a slow script must
/// not block a thread that the rest of the process waits for.
///
/// `@unchecked Sendable` is safe: the jobs and the flag are only used under the mutex.
final class PluginThread: SerialExecutor, @unchecked Sendable {
    // A query of 64 levels is parsed on it, on top of a hook's own recursion. Unused stack costs no memory.
    private static let stackBytes = 8 << 20

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: [UnownedJob] = []
    private var isStopped = false

    /// Starts the thread.
    ///
    /// - Throws: ``SluiceError`` of code `limitReached` if the system provides no thread.
    init() throws(SluiceError) {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        pthread_attr_setstacksize(attributes, Self.stackBytes)
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        // The thread owns its executor until it ends, so that no job runs on a released one.
        let owned = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, attributes,
            { context in
                guard let context else { return nil }
                Unmanaged<PluginThread>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, owned.toOpaque())
        guard status == 0 else {
            owned.release()
            throw SluiceError(.limitReached, "the system gives no thread for plugins (error \(status))")
        }
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        jobs.append(job)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Lets the thread end after its last job.
    func stop() {
        pthread_mutex_lock(mutex)
        isStopped = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func run() {
        let executor = asUnownedSerialExecutor()
        while true {
            let taken = take()
            if taken.isEmpty { return }
            for job in taken { job.runSynchronously(on: executor) }
        }
    }

    /// Returns all queued jobs, in order; none only when the thread has to end.
    private func take() -> [UnownedJob] {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while jobs.isEmpty, !isStopped { pthread_cond_wait(condition, mutex) }
        defer { jobs = [] }
        return jobs
    }
}
