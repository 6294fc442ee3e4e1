internal import SluiceCore

/// Lengths of time as configurations write them.
enum ExpiryInterval {
    /// The allowed forms, for error messages.
    static let forms = "a number with w, d, h, m or s, such as 30d, or ISO 8601, such as P30D or PT12H"
    /// A hundred years, in seconds.
    private static let longest: Int64 = 100 * 366 * 86_400

    /// Reads `30d`, `12h`, `90m`, `45s`, `2w`, or ISO 8601 weeks, days, hours, minutes and seconds (`P1DT12H`). Nil for
    /// anything else, for zero and for more than a hundred years. Months and years have no fixed length.
    static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1]
        let iso = text.first == "P"
        var rest = Substring(iso ? text.dropFirst().lowercased() : text)
        var total: Int64 = 0
        var inTime = !iso
        var last = Int64.max
        repeat {
            if iso, !inTime, rest.first == "t" {
                inTime = true
                rest = rest.dropFirst()
            }
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            guard let number = Int64(digits), number <= longest, let letter = rest.popFirst(), let unit = units[letter],
                // Each unit once, the larger first; hours, minutes and seconds after a T.
                unit < last, !iso || inTime == (unit < 86_400)
            else { return nil }
            let (product, overflows) = number.multipliedReportingOverflow(by: unit)
            guard !overflows, product <= longest else { return nil }
            total += product
            last = unit
        } while iso && !rest.isEmpty
        return rest.isEmpty && total > 0 && total <= longest ? total : nil
    }

    /// The interval in ticks of a ``Timestamp``.
    static func ticks(_ interval: Duration) -> Int64 {
        let (seconds, attoseconds) = interval.components
        return min(max(seconds, 0), longest) * Timestamp.ticksPerSecond + attoseconds / 100_000_000_000
    }
}
