#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Threads for what blocks, which has no place on the threads of Swift's tasks.
enum HostileThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own.
    ///
    /// - Returns: false if the system gives no thread; then `body` does not run.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body)).toOpaque()
        if create(work) { return true }
        Unmanaged<Work>.fromOpaque(work).release()
        return false
    }

    private static func create(_ work: UnsafeMutableRawPointer) -> Bool {
        #if canImport(Darwin)
            var thread: pthread_t?
            guard pthread_create(&thread, nil, { HostileThread.run($0) }, work) == 0 else { return false }
            if let thread { pthread_detach(thread) }
        #else
            var thread: pthread_t = 0
            guard pthread_create(&thread, nil, { HostileThread.run($0) }, work) == 0 else { return false }
            pthread_detach(thread)
        #endif
        return true
    }

    private static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let pointer else { return nil }
        Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
        return nil
    }
}
