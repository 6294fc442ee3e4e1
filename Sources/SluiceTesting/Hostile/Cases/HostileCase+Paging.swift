internal import SluiceCore

extension HostileCase {
    /// Lists that never end, and pages that do not fit together. What came before the end was seen stays.
    static var paging: [HostileCase] {
        [
            HostileCase(
                .paging, "the same page for ever", .pull,
                HostileOutcome(error: .brokenProtocol, rows: ["a", "b", "x"], cursor: .at(HostileRows.time)),
                answer: always([.json(200, HostileRows.one)])),
            HostileCase(
                .paging, "the same page for ever", .pullAll,
                HostileOutcome(error: .brokenProtocol, rows: ["a", "b", "x"]),
                answer: always([.json(200, HostileRows.one)])),
            HostileCase(
                .paging, "two pages in turn, for ever", .pull,
                HostileOutcome(error: .brokenProtocol, rows: ["a", "b", "x", "y"], cursor: .at(HostileRows.time)),
                answer: { [.json(200, HostileRows.page([HostileRows.row($0.number.isMultiple(of: 2) ? "y" : "x")]))] }),
            HostileCase(
                .paging, "a page of more rows than were asked for", .pull,
                .brings(["a", "b"] + (0..<200).map { "n\($0)" }.sorted(), cursor: .at(HostileRows.time)),
                answer: once(HostileRows.page((0..<200).map { HostileRows.row("n\($0)") }))),
            HostileCase(
                .paging, "rows from before the time that was asked for", .pull, .brings(["a", "b", "old"]),
                answer: once(HostileRows.page([HostileRows.row("old", at: "2001-01-01T00:00:00.000Z")]))),
        ]
    }
}
