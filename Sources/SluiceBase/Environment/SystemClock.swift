#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The machine's clock.
package enum SystemClock {
    /// The time now, in UTC.
    package static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(ticks: Int64(time.tv_sec) * Timestamp.ticksPerSecond + Int64(time.tv_nsec) / 100)
    }
}
