/// Lengths of time as configurations write them: `500ms`, `30s`, `5m`, `1h`, `2d`.
package enum DurationText {
    /// The forms of ``interval(_:)``, for error messages.
    package static let intervalForms = "a number with w, d, h, m or s, such as 30d, or ISO 8601, such as P30D or PT12H"

    /// The units, each with its milliseconds, the larger first.
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("w", 604_800_000), ("d", day), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]
    private static let day: Int64 = 86_400_000
    /// The longest length: a hundred years, in milliseconds.
    private static let longest = 100 * 366 * day

    /// Reads a number with `ms`, `s`, `m`, `h` or `d`; nil for anything else, and for more than a hundred years.
    package static func duration(_ text: String) -> Duration? {
        var rest = Substring(text)
        guard let (milliseconds, unit) = part(&rest), rest.isEmpty, unit <= day else { return nil }
        return .milliseconds(milliseconds)
    }

    /// Reads `30d`, `12h`, `90m`, `45s`, `2w`, or ISO 8601 weeks, days, hours, minutes and seconds (`P1DT12H`). Nil for
    /// anything else, for zero and for more than a hundred years. Months and years have no fixed length.
    package static func interval(_ text: String) -> Duration? {
        let isISO = text.first == "P"
        var rest = Substring(isISO ? text.dropFirst().lowercased() : text)
        var total: Int64 = 0
        var last = Int64.max
        var isTime = !isISO
        repeat {
            if isISO, !isTime, rest.first == "t" {
                isTime = true
                rest = rest.dropFirst()
            }
            // Each unit once, the larger first; hours, minutes and seconds after a T.
            guard let (milliseconds, unit) = part(&rest), unit < last, unit > 1, !isISO || isTime == (unit < day) else {
                return nil
            }
            total += milliseconds
            last = unit
        } while isISO && !rest.isEmpty
        return rest.isEmpty && total > 0 && total <= longest ? .milliseconds(total) : nil
    }

    /// Takes a number and its unit from the start of a text.
    private static func part(_ rest: inout Substring) -> (milliseconds: Int64, unit: Int64)? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        rest = rest.dropFirst(digits.count)
        let name = rest.hasPrefix("ms") ? rest.prefix(2) : rest.prefix(1)
        rest = rest.dropFirst(name.count)
        guard let number = Int64(digits), let unit = units.first(where: { $0.name == name })?.milliseconds else {
            return nil
        }
        let (product, overflows) = number.multipliedReportingOverflow(by: unit)
        return overflows || product > longest ? nil : (product, unit)
    }

    /// Writes a length in its largest whole unit up to days.
    package static func text(_ duration: Duration) -> String {
        for (name, milliseconds) in units where milliseconds <= day {
            let length = Duration.milliseconds(milliseconds)
            let count = Int64(nearest: (duration / length).rounded(.down)) ?? 0
            if count > 0, length * Int(clamping: count) == duration { return "\(count)\(name)" }
        }
        return duration == .zero ? "0s" : "\(duration)"
    }
}
