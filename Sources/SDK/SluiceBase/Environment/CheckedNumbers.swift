// Numbers that a script, a file, a header or a server has written may be anything: NaN, infinite, or far from what a
// whole number of 64 bits holds. Swift's own conversions end the process then; these give nil.

extension Int64 {
    /// The whole number nearest to `number`; nil where 64 bits hold none.
    package init?(nearest number: Double) { self.init(exactly: number.rounded()) }
}

extension Duration {
    /// So many seconds, to the nanosecond; nil for what is no number, and beyond 292 years.
    package static func checked(seconds: Double) -> Duration? {
        Int64(nearest: seconds * 1e9).map { .nanoseconds($0) }
    }

    /// In whole nanoseconds, at most as many as 64 bits hold.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflows || isTooLarge ? (seconds < 0 ? .min : .max) : sum
    }
}

extension Timestamp {
    /// The time so many seconds after 1970 began; nil for what is no number, and outside of the years 0001 to 9999.
    package init?(secondsSince1970 seconds: Double) {
        guard let ticks = Int64(nearest: seconds * Double(Self.ticksPerSecond)) else { return nil }
        self.init(ticks: ticks)
        if self.ticks != ticks { return nil }
    }
}
