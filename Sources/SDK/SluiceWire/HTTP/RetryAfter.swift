package import HTTPTypes
package import SluiceBase

/// Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or an HTTP date.
package enum RetryAfter {
    /// Returns the time that an answer asks to wait; nil if it asks for none. A date refers to the server's clock,
    /// which its `Date` shows. This machine's clock counts only if the answer has no `Date`.
    package static func duration(_ fields: HTTPFields, now: Timestamp) -> Duration? {
        let sent = fields[.date].flatMap { HTTPDate.timestamp($0) }
        return fields[.retryAfter].flatMap { duration($0, now: sent ?? now) }
    }

    /// Returns the time to wait; zero for a date in the past, nil for any other text.
    package static func duration(_ field: String, now: Timestamp) -> Duration? {
        // A field that came several times is a list, in which the longest pause counts.
        let numbers = field.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
        if numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0 &- 0x30 < 10 } }) {
            // Cut at a year, so that nothing can overflow; the caller's own limit is shorter.
            return numbers.map { .seconds(min(Int64($0) ?? .max, 31_536_000)) }.max()
        }
        guard let date = HTTPDate.timestamp(field) else { return nil }
        return .microseconds(max(0, date.ticks - now.ticks) / 10)
    }
}

/// Reads and writes the dates of header fields (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the time of a date in any of the three forms that a recipient has to accept; nil for any other text:
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    package static func timestamp(_ field: String) -> Timestamp? {
        let parts = field.split(separator: " ").map(String.init)
        switch parts.count {
        case 6 where parts[0].hasSuffix(",") && parts[5] == "GMT" && parts[3].utf8.count == 4:
            return time(day: parts[1], month: parts[2], year: parts[3], at: parts[4])
        case 4 where parts[0].hasSuffix(",") && parts[3] == "GMT":
            let date = parts[1].split(separator: "-").map(String.init)
            guard date.count == 3, date[2].utf8.count == 2, let year = Int(date[2]) else { return nil }
            // Two digits below 70 are a year of this century; a recipient takes none for more than 50 years ahead.
            return time(day: date[0], month: date[1], year: "\(year < 70 ? 2000 + year : 1900 + year)", at: parts[2])
        case 5 where parts[4].utf8.count == 4:
            return time(
                day: parts[2].utf8.count == 1 ? "0\(parts[2])" : parts[2], month: parts[1], year: parts[4], at: parts[3]
            )
        default: return nil
        }
    }

    private static func time(day: String, month: String, year: String, at clock: String) -> Timestamp? {
        guard day.utf8.count == 2, clock.utf8.count == 8, let month = months.firstIndex(of: month) else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp("\(year)-\(number)-\(day)T\(clock)Z")
    }

    /// Returns a time in the preferred form, truncated to whole seconds.
    package static func text(_ time: Timestamp) -> String {
        let iso = Array(time.text(fractionDigits: 0))
        // 1970-01-01 was a Thursday.
        let week = 7 * 86_400 * Timestamp.ticksPerSecond
        let sinceThursday = (time.ticks % week + week) % week
        let weekday = days[Int(sinceThursday / (week / 7))]
        let month = months[Int(time.parts.month) - 1]
        return "\(weekday), \(String(iso[8...9])) \(month) \(String(iso[0...3])) \(String(iso[11...18])) GMT"
    }
}
