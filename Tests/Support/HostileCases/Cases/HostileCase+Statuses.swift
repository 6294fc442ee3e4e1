internal import SluiceCore

extension HostileCase {
    /// Statuses that do not answer the request, or are no statuses.
    static var statuses: [HostileCase] {
        let body = HostileRows.one
        let lists: [(Int, HostileOutcome)] = [
            (201, HostileRows.brought), (202, HostileRows.brought), (203, HostileRows.brought),
            (206, .fails(.brokenProtocol)), (226, HostileRows.brought), (299, HostileRows.brought),
            (300, .fails(.brokenProtocol)), (399, .fails(.brokenProtocol)),
            (402, .fails(.rejected)), (418, .fails(.rejected)), (426, .fails(.rejected)), (499, .fails(.rejected)),
            (413, .fails(.tooLarge)), (451, .fails(.forbidden)), (500, .fails(.serverFailure)),
            (501, .fails(.serverFailure)), (599, .fails(.serverFailure)), (600, .fails(.brokenProtocol)),
            (999, .fails(.brokenProtocol)),
        ]
        let emptyLists = [204, 205, 304].map { status in
            HostileCase(
                .statuses, "\(status) to a list", .pull, .fails(.brokenProtocol),
                answer: always([.text("HTTP/1.1 \(status) Status\r\nContent-Length: 0\r\n\r\n")]))
        }
        let changes: [(Int, HostileOutcome)] = [
            (304, .waits(.brokenProtocol)), (400, .parks(.rejected)), (402, .parks(.rejected)),
            (413, .parks(.tooLarge)),
            (418, .parks(.rejected)), (422, .parks(.rejected)), (451, .parks(.forbidden)),
            (500, .waits(.serverFailure)),
            (599, .waits(.serverFailure)), (600, .waits(.serverFailure)), (999, .waits(.serverFailure)),
        ]
        return emptyLists
            + lists.map { status, outcome in
                HostileCase(
                    .statuses, "\(status) with rows", .pull, outcome, answer: asLong(as: outcome, [.json(status, body)])
                )
            }
            + changes.map { status, outcome in
                HostileCase(.statuses, "\(status)", .update, outcome, answer: always([.json(status, "")]))
            }
            + [
                HostileCase(
                    .statuses, "304 to a record that was asked for without a condition", .lookup,
                    .fails(.brokenProtocol), answer: always([.text("HTTP/1.1 304 Not Modified\r\n\r\n")])),
                HostileCase(
                    .statuses, "204 to a record", .lookup, .fails(.brokenProtocol), answer: always([.answer(204)])),
            ]
    }
}
