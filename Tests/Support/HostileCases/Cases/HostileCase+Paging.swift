internal import SluiceCore

extension HostileCase {
    /// Lists that never end, and pages that do not fit together. What came before the end was seen stays.
    static var paging: [HostileCase] {
        [
            HostileCase(
                .paging, "the same page for ever", .pull, .brings(["a", "b", "x"], cursor: .at("")),
                answer: always([.json(200, HostileRows.one)])),
            HostileCase(
                .paging, "the same page for ever", .pullAll, .brings(["a", "b", "x"]),
                answer: always([.json(200, HostileRows.one)])),
            HostileCase(
                .paging, "two pages in turn, for ever", .pull,
                HostileOutcome(error: .brokenProtocol, rows: ["a", "b", "x", "y"], cursor: .at("")),
                limits: HostileLimits(pages: 40, requests: 40),
                answer: { [.json(200, HostileRows.page([HostileRows.row($0.number.isMultiple(of: 2) ? "y" : "x")]))] }),
            HostileCase(
                .paging, "two pages in turn, for ever", .pullAll,
                HostileOutcome(error: .limitReached, rows: ["a", "b", "x", "y"]),
                // Pages that bring nothing are counted by themselves.
                limits: HostileLimits(requests: 16),
                answer: { [.json(200, HostileRows.page([HostileRows.row($0.number.isMultiple(of: 2) ? "y" : "x")]))] }),
            HostileCase(
                .paging, "a page of more rows than were asked for", .pull,
                .brings(["a", "b"] + (0..<200).map { "n\($0)" }.sorted(), cursor: .at(HostileRows.time)),
                answer: once(HostileRows.page((0..<200).map { HostileRows.row("n\($0)") }))),
            HostileCase(
                .paging, "rows from before the time that was asked for", .pull,
                .brings(["a", "b", "old"], cursor: .at("")),
                answer: once(HostileRows.page([HostileRows.row("old", at: "2001-01-01T00:00:00.000Z")]))),
            HostileCase(
                .paging, "ever new rows", .pull,
                HostileOutcome(
                    // The third answer is one to a question for a row that the second page did not show.
                    error: .limitReached, rows: ["a", "b", "n1", "n2"] + (4...9).map { "n\($0)" },
                    cursor: .at("2023-11-14T22:13:00.009Z")),
                answer: { request in
                    let time = "2023-11-14T22:13:00.00\(min(request.number, 9))Z"
                    return [.json(200, HostileRows.page([HostileRows.row("n\(request.number)", at: time)]))]
                }),
            HostileCase(
                .paging, "ever new rows", .pullAll,
                HostileOutcome(
                    // The third answer is one to the question for the order of ids.
                    error: .limitReached, rows: ["a", "b", "n1", "n2"] + (4...9).map { "n\($0)" }),
                answer: { [.json(200, HostileRows.page([HostileRows.row("n\($0.number)")]))] }),
            HostileCase(
                .paging, "tombstones of all rows", .pull,
                HostileOutcome(
                    error: .removalsHeld, rows: ["a", "b"] + many.sorted(), cursor: .at(HostileRows.time)),
                answer: { request in
                    let later = #""deleted":true,"updatedAt":"2023-11-14T22:13:01.000Z","version":"8""#
                    return [
                        .json(
                            200,
                            HostileRows.page(
                                many.map { request.number == 1 ? HostileRows.row($0) : #"{"id":"\#($0)",\#(later)}"# }))
                    ]
                }),
        ]
    }

    private static let many = (0..<300).map { "n\($0)" }
}
