extension Timestamp {
    /// That time on some day, from `hh:mm`, `hh:mm:ss` or `hh:mm:ss.f…`, the forms in which records hold a time of day;
    /// nil if `text` is not of these forms.
    package init?(timeOfDay text: String) {
        let isOfTime = { (byte: UInt8) in byte &- 0x30 < 10 || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") }
        guard text.utf8.allSatisfy(isOfTime), let time = Timestamp("1970-01-01T" + text) else { return nil }
        self = time
    }
}
