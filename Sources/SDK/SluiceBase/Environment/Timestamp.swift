/// A point in time, in UTC, to 100 nanoseconds: the precision of the servers' databases.
///
/// Sluice stores a server's time as its text; a `Timestamp` is for comparing and computing.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Steps of 100 ns since 1970-01-01T00:00:00Z; negative before.
    public let ticks: Int64

    /// The number of ticks in a second.
    public static let ticksPerSecond: Int64 = 10_000_000
    private static let ticksPerDay = 86_400 * ticksPerSecond
    /// The years 0001 to 9999, which ISO 8601 writes with four digits.
    private static let range = civilDays(1, 1, 1) * ticksPerDay...civilDays(10_000, 1, 1) * ticksPerDay - 1

    /// Creates a time by its ticks, limited to the years 0001 to 9999.
    public init(ticks: Int64) { self.ticks = min(max(ticks, Self.range.lowerBound), Self.range.upperBound) }

    /// Reads `2013-09-01T12:34:56.789Z`, with 0 to any number of fraction digits (those beyond the seventh are cut), an
    /// offset `+02:00` or `Z` or nothing (UTC), or a date alone; nil if `text` is not of these forms.
    public init?(_ text: String) {
        var text = text
        guard let ticks = text.withUTF8({ Self.ticks($0) }) else { return nil }
        self.ticks = ticks
    }

    private static func ticks(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        var scanner = Scanner(text)
        guard let year = scanner.digits(4), year > 0, scanner.skip("-"), let month = scanner.digits(2),
            (1...12).contains(month), scanner.skip("-"), let day = scanner.digits(2), day >= 1,
            day <= daysInMonth(year, month)
        else { return nil }
        var ticks = civilDays(year, month, day) * ticksPerDay
        if !scanner.atEnd {
            guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "), let hour = scanner.digits(2), hour < 24,
                scanner.skip(":"), let minute = scanner.digits(2), minute < 60
            else { return nil }
            var second: Int64 = 0
            var fraction: Int64 = 0
            if scanner.skip(":") {
                guard let read = scanner.digits(2), read < 60 else { return nil }
                second = read
                if scanner.skip(".") {
                    guard let read = scanner.fraction() else { return nil }
                    fraction = read
                }
            }
            ticks += ((hour * 60 + minute) * 60 + second) * ticksPerSecond + fraction
            guard let offset = scanner.offsetMinutes(), scanner.atEnd else { return nil }
            ticks -= offset * 60 * ticksPerSecond
        }
        return range.contains(ticks) ? ticks : nil
    }

    /// The first and the last possible moment.
    package static let earliest = Timestamp(ticks: range.lowerBound)
    package static let latest = Timestamp(ticks: range.upperBound)

    /// Whether `left` comes before `right`.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.ticks < right.ticks }

    /// The time with seven fraction digits: `2013-09-01T12:34:56.7890000Z`.
    public var description: String { text(fractionDigits: 7) }

    /// Returns the time with that many fraction digits (0 to 7), the rest cut off.
    public func text(fractionDigits: Int) -> String {
        let (days, time) = ticks.flooredQuotient(by: Self.ticksPerDay)
        let date = Self.civilDate(days)
        let seconds = time / Self.ticksPerSecond
        let digits = max(0, min(7, fractionDigits))
        return String(unsafeUninitializedCapacity: 28) { text in
            var place = 0
            func add(_ number: Int64, _ width: Int, _ end: Unicode.Scalar) {
                var rest = number
                for index in stride(from: place + width - 1, through: place, by: -1) {
                    text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                text[place + width] = UInt8(ascii: end)
                place += width + 1
            }
            add(date.year, 4, "-")
            add(date.month, 2, "-")
            add(date.day, 2, "T")
            add(seconds / 3600, 2, ":")
            add(seconds / 60 % 60, 2, ":")
            add(seconds % 60, 2, digits == 0 ? "Z" : ".")
            if digits > 0 {
                add(time % Self.ticksPerSecond, 7, "Z")
                place -= 7 - digits
                text[place - 1] = UInt8(ascii: "Z")
            }
            return place
        }
    }

    /// The beginning of the day, in UTC.
    package var beginningOfDay: Timestamp {
        Timestamp(ticks: ticks - ticks.flooredQuotient(by: Self.ticksPerDay).1)
    }

    /// The parts of the date and time, in UTC.
    package var parts: (year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) {
        let (days, time) = ticks.flooredQuotient(by: Self.ticksPerDay)
        let date = Self.civilDate(days)
        let seconds = time / Self.ticksPerSecond
        return (date.year, date.month, date.day, seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    private static func daysInMonth(_ year: Int64, _ month: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so that the leap day
    /// comes last.
    private static func civilDays(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let marchMonth = (month + 9) % 12
        let (era, yearOfEra) = marchYear.flooredQuotient(by: 400)
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civilDate(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredQuotient(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    /// Returns the quotient rounded towards minus infinity, and its remainder, which is never negative.
    fileprivate func flooredQuotient(by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// Reads the parts of an ISO 8601 text.
private struct Scanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var atEnd: Bool { index == bytes.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    mutating func digits(_ count: Int) -> Int64? {
        guard index + count <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[index..<index + count] {
            guard byte &- 0x30 < 10 else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        index += count
        return value
    }

    /// Reads the digits of a fraction of a second, as ticks.
    mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var count = 0
        while index < bytes.count, bytes[index] &- 0x30 < 10 {
            if count < 7 { value = value * 10 + Int64(bytes[index] - 0x30) }
            count += 1
            index += 1
        }
        guard count > 0 else { return nil }
        for _ in min(count, 7)..<7 { value *= 10 }
        return value
    }

    mutating func offsetMinutes() -> Int64? {
        if atEnd || skip("Z") || skip("z") { return 0 }
        let negative = skip("-")
        guard negative || skip("+"), let hours = digits(2), skip(":"), let minutes = digits(2), hours <= 18,
            minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (negative ? -1 : 1)
    }
}

extension Timestamp {
    /// Creates a time of day from the forms in records: `hh:mm`, `hh:mm:ss` or `hh:mm:ss.f…`; nil for any other `text`.
    package init?(timeOfDay text: String) {
        let isOfTime = { (byte: UInt8) in byte &- 0x30 < 10 || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") }
        guard text.utf8.allSatisfy(isOfTime), let time = Timestamp("1970-01-01T" + text) else { return nil }
        self = time
    }

    /// The time of the day, in UTC, as `hh:mm:ss`, with three fraction digits or seven where the time has a fraction.
    package var timeOfDayText: String {
        let second = Self.ticksPerSecond
        let digits = ticks % second == 0 ? 0 : ticks % (second / 1000) == 0 ? 3 : 7
        return String(text(fractionDigits: digits).dropFirst(11).dropLast())
    }
}

extension Timestamp {
    /// Longer than all of time, but far from the limit of a number.
    private static let endless: Int64 = 400_000_000_000

    /// Returns the time that much later, at most the end of time.
    public func advanced(by duration: Duration) -> Timestamp {
        let parts = duration.components
        let seconds = min(max(parts.seconds, -Self.endless), Self.endless)
        return Timestamp(ticks: ticks + seconds * Self.ticksPerSecond + parts.attoseconds / 100_000_000_000)
    }

    /// Returns the length of time from here to `later`; negative if that is earlier.
    package func duration(to later: Timestamp) -> Duration {
        let ticks = later.ticks - self.ticks
        return .seconds(ticks / Self.ticksPerSecond) + .nanoseconds(ticks % Self.ticksPerSecond * 100)
    }
}
