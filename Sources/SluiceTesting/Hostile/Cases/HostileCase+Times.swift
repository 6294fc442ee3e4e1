internal import SluiceCore

extension HostileCase {
    /// Times of change, by which a pull goes on. None hides the rows that come later.
    static var times: [HostileCase] {
        let strange = [
            ("of the year 9999", "9999-12-31T23:59:59.999Z"), ("tomorrow", "2099-01-01T00:00:00.000Z"),
            ("of the year 0001", "0001-01-01T00:00:00.000Z"), ("of 1970", "1970-01-01T00:00:00.000Z"),
            ("of the year 10000", "10000-01-01T00:00:00.000Z"), ("of the year 0", "0000-00-00T00:00:00.000Z"),
            ("that is no date", "yesterday"), ("without a character", ""), ("of a leap second", "2016-12-31T23:59:60Z"),
            ("of the 30th of February", "2024-02-30T00:00:00Z"), ("with an offset", "2024-01-01T00:00:00+14:00"),
            ("of a hundred digits", "2024-01-01T00:00:00." + String(repeating: "1", count: 100) + "Z"),
            ("with a quote", "2024-01-01' or '1'='1"), ("in the form of .NET", "/Date(1704067200000)/"),
            ("as a number in a text", "1704067200000"), ("of 10 KB", String(repeating: "2", count: 10_000)),
        ]
        return strange.map { name, time in
            HostileCase(
                .times, "a time \(name)", .pull, .brings(["a", "b", "x"], cursor: .unchanged),
                answer: once(HostileRows.page([HostileRows.row("x", at: time)])))
        }
    }
}
