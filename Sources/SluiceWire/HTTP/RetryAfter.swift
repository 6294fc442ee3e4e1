package import SluiceBase

/// Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or an HTTP date.
package enum RetryAfter {
    /// How long to wait; zero for a date in the past, nil for what is neither.
    package static func duration(_ field: String, now: Timestamp) -> Duration? {
        let text = field.filter { $0 != " " }
        if !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }) {
            // Longer than a year is a year: the caller's own limit is shorter, and nothing can overflow.
            return .seconds(min(Int64(text) ?? .max, 31_536_000))
        }
        guard let date = HTTPDate.timestamp(field) else { return nil }
        return .microseconds(max(0, date.ticks - now.ticks) / 10)
    }
}
