// A number from a script, a file, a header or a server may be anything: NaN, infinite, or beyond 64 bits. Swift's own
// conversions end the process then; these return nil.

extension Int64 {
    /// The whole number nearest to `number`; nil where 64 bits hold none.
    package init?(nearest number: Double) { self.init(exactly: number.rounded()) }
}

extension Duration {
    /// Returns a duration of that many seconds, to the nanosecond; nil for NaN, and beyond 292 years.
    package static func checked(seconds: Double) -> Duration? {
        Int64(nearest: seconds * 1e9).map { .nanoseconds($0) }
    }

    /// The duration in whole nanoseconds, limited to the range of 64 bits.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflows || isTooLarge ? (seconds < 0 ? .min : .max) : sum
    }
}

extension Timestamp {
    /// Creates the time that many seconds after 1970 began; nil for NaN, and outside of the years 0001 to 9999.
    package init?(secondsSince1970 seconds: Double) {
        guard let ticks = Int64(nearest: seconds * Double(Self.ticksPerSecond)) else { return nil }
        self.init(ticks: ticks)
        if self.ticks != ticks { return nil }
    }
}
