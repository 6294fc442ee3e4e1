extension Timestamp {
    /// That time on some day, from `hh:mm`, `hh:mm:ss` or `hh:mm:ss.f…`, the forms in which records hold a time of day;
    /// nil if `text` is not of these forms.
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
