#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension ClientOptions {
    /// 128 random bits as 32 hexadecimal digits.
    public static func randomID() -> String {
        [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// The time of the machine's clock.
    public static func systemTime() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(ticks: Int64(time.tv_sec) * Timestamp.ticksPerSecond + Int64(time.tv_nsec) / 100)
    }
}
