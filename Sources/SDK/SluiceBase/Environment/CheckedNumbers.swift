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

// Swift's conversions of a floating-point number that end the process where it does not fit. Each is declared here
// again, as deprecated: this declaration hides Swift's own, and Package.swift makes its use an error in every target.
// CheckedNumbers.swift has the replacements. Literals are not affected, only values of type `Double`.

extension Int {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = Int(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension Int8 {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = Int8(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension Int16 {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = Int16(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension Int32 {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = Int32(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension Int64 {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = Int64(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension UInt {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = UInt(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension UInt8 {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = UInt8(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension UInt16 {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = UInt16(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension UInt32 {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = UInt32(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension UInt64 {
    @available(*, deprecated, message: "ends the process where it does not fit: use Int64(nearest:) or init(exactly:)")
    package init(_ source: Double) { self = UInt64(exactly: source.rounded(.towardZero)) ?? 0 }
}

extension Duration {
    @available(*, deprecated, message: "ends the process where it does not fit: use Duration.checked(seconds:)")
    package static func seconds(_ source: Double) -> Duration { .zero }
    @available(*, deprecated, message: "ends the process where it does not fit: use Duration.checked(seconds:)")
    package static func milliseconds(_ source: Double) -> Duration { .zero }
    @available(*, deprecated, message: "ends the process where it does not fit: use Duration.checked(seconds:)")
    package static func microseconds(_ source: Double) -> Duration { .zero }
    @available(*, deprecated, message: "ends the process where it does not fit: use Duration.checked(seconds:)")
    package static func nanoseconds(_ source: Double) -> Duration { .zero }
}
