internal import SluiceCore

extension HostileCase {
    /// Times of change, by which a pull goes on. None hides the rows that come later.
    static var times: [HostileCase] { noTimes + farTimes + spellings }

    private static func timed(_ name: String, _ time: String, _ outcome: HostileOutcome) -> HostileCase {
        HostileCase(
            .times, "a time \(name)", .pull, outcome, answer: once(HostileRows.page([HostileRows.row("x", at: time)])))
    }

    private static func timed(_ name: String, _ time: String, cursor: HostileOutcome.Cursor) -> HostileCase {
        timed(name, time, .brings(["a", "b", "x"], cursor: cursor))
    }

    private static var noTimes: [HostileCase] {
        [
            ("of the year 10000", "10000-01-01T00:00:00.000Z"), ("of the year 0", "0000-00-00T00:00:00.000Z"),
            ("that is no date", "yesterday"), ("without a character", ""), ("of a leap second", "2016-12-31T23:59:60Z"),
            ("of the 30th of February", "2024-02-30T00:00:00Z"), ("with a quote", "2024-01-01' or '1'='1"),
            ("in the form of .NET", "/Date(1704067200000)/"), ("as a number in a text", "1704067200000"),
            ("of 10 KB", String(repeating: "2", count: 10_000)),
            // No time leads to such a row again, so it is set aside.
        ].map { timed($0, $1, .brings(["a", "b"])) }
            + [
                HostileCase(
                    .times, "a time that is no date, in a full pull", .pullAll, .brings(["a", "b"]),
                    answer: once(HostileRows.page([HostileRows.row("x", at: "yesterday")])))
            ]
    }

    private static var farTimes: [HostileCase] {
        [
            ("of the year 0001", "0001-01-01T00:00:00.000Z"), ("of 1970", "1970-01-01T00:00:00.000Z"),
        ].map { timed($0, $1, cursor: .at("")) }
            + [
                // The cursor stays after what the server reports is now, by the time that a commit may take.
                timed("of the year 9999", "9999-12-31T23:59:59.999Z", cursor: .at(HostileRows.latest)),
                timed("of the year 2099", "2099-01-01T00:00:00.000Z", cursor: .at("2023-11-14T22:12:50.000Z")),
            ]
    }

    private static var spellings: [HostileCase] {
        let digits = "2023-11-14T22:13:00." + String(repeating: "1", count: 100) + "Z"
        let offset = "2023-11-15T12:13:00.000+14:00"
        return [
            timed("of a hundred digits", digits, cursor: .at(digits)),
            timed("with an offset", offset, cursor: .at(offset)),
        ]
    }
}
