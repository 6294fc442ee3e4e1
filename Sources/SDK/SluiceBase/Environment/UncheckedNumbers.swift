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
