internal import SluiceCore

extension HostileCase {
    /// Answers to a pull that follows change tokens. A token is the server's own, and its word is taken for no more
    /// than where to go on.
    static var tokens: [HostileCase] { ofRuns + ofRefusals + ofTokens }

    private static let x = HostileRows.one

    private static func page(_ rows: String, _ token: String) -> [HostileAct] {
        [.json(200, rows, [("X-Sluice-Delta-Token", token)])]
    }

    /// The rows are the store's own and those, the cursor is at that token.
    private static func follows(
        _ token: String, _ ids: [String] = ["a", "b", "x"], error: SluiceError.Code? = nil
    ) -> HostileOutcome {
        HostileOutcome(error: error, rows: ids, cursor: .token(token))
    }

    private static var ofRuns: [HostileCase] {
        [
            HostileCase(.tokens, "a page, and then none", .track, follows("n2")) {
                $0.number == 1 ? page(x, "n1") : page("[]", "n2")
            },
            HostileCase(.tokens, "a page and its token for ever", .track, follows("n1", error: .brokenProtocol)) { _ in
                page(x, "n1")
            },
            HostileCase(.tokens, "two tokens in turn for ever", .track, follows("n0", error: .brokenProtocol)) {
                page(x, "n\($0.number % 2)")
            },
            HostileCase(.tokens, "ever new tokens with one row", .track, follows("n8", error: .limitReached)) {
                page(x, "n\($0.number)")
            },
            HostileCase(.tokens, "ever new tokens without rows", .track, follows("n1", ["a", "b"])) {
                page("[]", "n\($0.number)")
            },
            HostileCase(
                .tokens, "tombstones of all rows", .track,
                HostileOutcome(error: .removalsHeld, rows: ["a", "b"] + many.sorted(), cursor: .token("n1"))
            ) { request in
                let later = #""deleted":true,"updatedAt":"2023-11-14T22:13:01.000Z","version":"8""#
                let rows = many.map { request.number == 1 ? HostileRows.row($0) : #"{"id":"\#($0)",\#(later)}"# }
                return page(HostileRows.page(rows), "n\(request.number)")
            },
        ]
    }

    private static let many = (0..<300).map { "n\($0)" }

    /// The token is refused: the pull begins afresh, once.
    private static var ofRefusals: [HostileCase] {
        [400, 410, 501].map { status in
            HostileCase(.tokens, "\(status) for ever", .track, .fails(.refusal(status))) { _ in
                [.json(status, #"{"error":"no such token"}"#)]
            }
        }
            + [
                // What the new run does not bring is asked for by its id before it goes.
                HostileCase(.tokens, "410, and then all rows anew", .track, follows("n1")) { request in
                    if request.number == 1 { return [.json(410, "")] }
                    if request.target.contains("$digest") { return [.json(404, "")] }
                    if request.target.contains("deltatoken") { return page("[]", "n1") }
                    return page(HostileRows.sorted(["a", "b", "x"], request), "n1")
                },
                HostileCase(.tokens, "500 for ever", .track, .fails(.serverFailure)) { _ in [.json(500, "")] },
            ]
    }

    /// Tokens that are strange, and none.
    private static var ofTokens: [HostileCase] {
        let strange = [
            "a&b=c#d?e%41+ $top=1", #""'\{}<>|^`"#, "../../$batch", "http://127.0.0.1/", "'; DROP TABLE items; --",
            String(repeating: "t", count: 60_000),
        ]
        return strange.map { token in
            HostileCase(.tokens, "“\(token.prefix(24))” for a token", .track, follows(token)) { request in
                if request.number == 1 { return page(x, token) }
                // Nothing of it may have become a part of the address.
                let query = request.target.split(separator: "?", maxSplits: 1).last ?? ""
                let pairs = query.split(separator: "&")
                    .filter { PercentEncoding.decoded(String($0)) == "$deltatoken=\(token)" }
                return pairs.count == 1 && request.target.hasPrefix("/tables/items?")
                    ? page("[]", token) : [.json(500, "")]
            }
        }
            + [
                HostileCase(.tokens, "a line break in a token", .track, .fails(.network)) { _ in
                    page(x, "n1\r\n\u{0}")
                },
                HostileCase(.tokens, "letters outside of ASCII in a token", .track, follows("n\u{e9}")) {
                    $0.number == 1 ? page(x, "n\u{e9}") : page("[]", "n\u{e9}")
                },
                // It begins afresh by time; what it lists is all that there is, so the others go. How far the clock is that
                // stamps the rows, only the row itself says: the cursor stays behind it by the lag.
                HostileCase(
                    .tokens, "an empty token", .track,
                    HostileOutcome(rows: ["x"], cursor: .at("2023-11-14T22:11:00.000Z"))
                ) {
                    $0.target.contains("id%20eq") || $0.number <= 2 ? page(x, "") : page("[]", "")
                },
            ]
    }
}

extension SluiceError.Code {
    fileprivate static func refusal(_ status: Int) -> SluiceError.Code {
        status == 410 ? .notFound : status == 501 ? .serverFailure : .rejected
    }
}
