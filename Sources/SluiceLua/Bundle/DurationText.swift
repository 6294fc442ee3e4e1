/// A length of time as texts have it: `250ms`, `30s`, `5m`, `2h`, `7d`.
enum DurationText {
    /// What refusals say of it.
    static let expectation = "a length of time such as \"250ms\", \"30s\", \"5m\", \"2h\" or \"7d\""

    /// The milliseconds; nil where the text is none. At most 10,000 days.
    static func milliseconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 16 else { return nil }
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty, let count = Int64(text.prefix(digits.count)) else { return nil }
        let unit: Int64
        switch text.dropFirst(digits.count) {
        case "ms": unit = 1
        case "s": unit = 1_000
        case "m": unit = 60_000
        case "h": unit = 3_600_000
        case "d": unit = 86_400_000
        default: return nil
        }
        let (result, isTooLong) = count.multipliedReportingOverflow(by: unit)
        return isTooLong || result > 10_000 * 86_400_000 ? nil : result
    }
}
