/// Lengths of time as texts: `P6DT23H59M59.9999S`, days at the most. (OData v4.01 ABNF, durationValue; XML Schema's
/// dayTimeDuration.)
enum QueryDuration {
    /// Returns the length in ticks of 100 ns; nil for a text that is not a duration, or beyond 64 bits.
    static func ticks(_ text: String) -> Int64? {
        var rest = text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        guard rest.first == UInt8(ascii: "P") else { return nil }
        rest = rest.dropFirst()
        var total: Int64 = 0
        var left: [(unit: UInt8, seconds: Int64)] = [
            (UInt8(ascii: "D"), 86_400), (UInt8(ascii: "T"), 0), (UInt8(ascii: "H"), 3600), (UInt8(ascii: "M"), 60),
            (UInt8(ascii: "S"), 1),
        ]
        var isTime = false
        var parts = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0 &- 0x30 < 10 }
            rest = rest.dropFirst(digits.count)
            var fraction: Int64 = 0
            var hasFraction = false
            if rest.first == UInt8(ascii: "."), isTime {
                let places = rest.dropFirst().prefix { $0 &- 0x30 < 10 }
                guard !places.isEmpty, !digits.isEmpty else { return nil }
                hasFraction = true
                for place in 0..<7 {
                    let digit = place < places.count ? places[places.index(places.startIndex, offsetBy: place)] : 0x30
                    fraction = fraction * 10 + Int64(digit &- 0x30)
                }
                rest = rest.dropFirst(places.count + 1)
            }
            guard let unit = rest.first, let index = left.firstIndex(where: { $0.unit == unit }) else { return nil }
            let seconds = left[index].seconds
            left.removeFirst(index + 1)
            rest = rest.dropFirst()
            if unit == UInt8(ascii: "T") {
                guard digits.isEmpty, !rest.isEmpty else { return nil }
                isTime = true
                continue
            }
            guard seconds == 86_400 || isTime, !hasFraction || seconds == 1,
                let number = Int64(String(decoding: digits, as: UTF8.self))
            else { return nil }
            let (long, isLong) = number.multipliedReportingOverflow(by: seconds)
            let (length, isTooLong) = long.multipliedReportingOverflow(by: Timestamp.ticksPerSecond)
            let (more, isMore) = total.addingReportingOverflow(length)
            let (sum, isBeyond) = more.addingReportingOverflow(fraction)
            if isLong || isTooLong || isMore || isBeyond { return nil }
            total = sum
            parts += 1
        }
        return parts == 0 ? nil : isNegative ? -total : total
    }

    /// Returns the text of a length in ticks.
    static func text(_ ticks: Int64) -> String {
        let second = UInt64(Timestamp.ticksPerSecond)
        let magnitude = ticks.magnitude
        let (days, time) = (magnitude / (86_400 * second), magnitude % (86_400 * second))
        var text = ticks < 0 ? "-P" : "P"
        if days > 0 { text += "\(days)D" }
        if time > 0 || days == 0 { text += "T" }
        let (hours, minutes, seconds) = (time / (3600 * second), time / (60 * second) % 60, time / second % 60)
        if hours > 0 { text += "\(hours)H" }
        if minutes > 0 { text += "\(minutes)M" }
        let fraction = time % second
        if seconds > 0 || fraction > 0 || magnitude == 0 {
            text += "\(seconds)"
            if fraction > 0 {
                var digits = String(fraction)
                digits = String(repeating: "0", count: 7 - digits.count) + digits
                while digits.hasSuffix("0") { digits.removeLast() }
                text += "." + digits
            }
            text += "S"
        }
        return text
    }
}
