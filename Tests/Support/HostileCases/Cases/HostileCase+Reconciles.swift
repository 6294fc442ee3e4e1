internal import SluiceCore

extension HostileCase {
    /// Digests, and what is listed where there are none. A row goes only if a second read misses it too.
    static var reconciles: [HostileCase] { ofDigests + ofListings }

    private static let same = HostileOutcome.brings(["a", "b"])
    /// Rows are gone, and the cursor remembers them; its time stays.
    private static let removed = HostileOutcome(rows: [], cursor: .at("2023-11-14T22:12:50.000Z"))

    /// Answers a digest with `digest`, what is asked for by ids with the rows that the store holds, and a list with
    /// those.
    private static func reconcile(
        _ name: String, _ outcome: HostileOutcome, digest: @escaping @Sendable (HostileRequest) -> [HostileAct],
        list: @escaping @Sendable (HostileRequest) -> [HostileAct] = { request in
            [.json(200, HostileRows.sorted(["a", "b"], request))]
        }
    ) -> HostileCase {
        HostileCase(.reconciles, name, .reconcile, outcome) { request in
            if request.target.contains("$digest") { return digest(request) }
            return request.target.contains("id%20eq") ? [.json(200, held)] : list(request)
        }
    }

    private static let held = HostileRows.page([HostileRows.row("a"), HostileRows.row("b")])

    private static func digest(_ ranges: String, count: String = "2", sum: String = "1") -> [HostileAct] {
        [.json(200, #"{"count":\#(count),"digest":"\#(sum)","ranges":[\#(ranges)]}"#)]
    }

    private static func range(_ from: String, _ to: String, count: String = "1000", sum: String = "1") -> String {
        #"{"from":"\#(from)","to":"\#(to)","count":\#(count),"digest":"\#(sum)"}"#
    }

    private static var ofDigests: [HostileCase] {
        let useless = [
            ("a range that ends before it begins", range("z", "a")),
            ("ranges that overlap", range("a", "m") + "," + range("b", "z")),
            ("ranges in another order", range("m", "z") + "," + range("a", "b")),
            ("the same range again and again", Array(repeating: range("a", "z"), count: 4).joined(separator: ",")),
            ("20,000 ranges", (10_000..<30_000).map { range("\($0)", "\($0)") }.joined(separator: ",")),
            ("a negative count", range("a", "z", count: "-1")), ("a text for a count", range("a", "z", count: "\"1\"")),
            ("a count beyond all numbers", range("a", "z", count: "1e300")),
            ("a sum that is no number", range("a", "z", sum: "xyz")),
            ("a sum of too many digits", range("a", "z", sum: String(repeating: "f", count: 17))),
            ("a range without ends", #"{"count":1,"digest":"1"}"#), ("null for a range", "null"),
        ]
        let bodies = ["null", "[]", "7", "\"0\"", "{}", "<html>no</html>", "", #"{"count":2,"digest":"1"}"#]
        return useless.map { name, ranges in reconcile(name, same) { _ in digest(ranges) } }
            + bodies.map { body in
                reconcile("“\(body)” for a digest", same) { _ in [.json(200, body)] }
            }
            + [
                reconcile("no ranges, and a sum that differs", same) { _ in digest("") },
                reconcile("ranges within ranges without end", HostileOutcome(error: .limitReached)) { request in
                    let from = value("from", request) ?? "a"
                    let to = value("to", request) ?? "z"
                    return digest(range(from, from + "0") + "," + range(from + "1", to), count: "2000")
                },
                reconcile("a range that has all rows when it is asked for", same) { request in
                    digest(range("a", "z") + "," + range("zz", "zzz"), count: "2000")
                },
                reconcile("ranges that the table's rows are not in", same) { _ in digest(range("x", "z", count: "1")) },
                reconcile("500 for ever", HostileOutcome(error: .serverFailure)) { _ in [.json(500, "")] },
                reconcile("302 to another port", HostileOutcome(error: .brokenProtocol)) { request in
                    [.answer(302, [("Location", "http://\(request.elsewhere)/tables/items/$digest")])]
                },
                reconcile("a digest of a million brackets", same) { _ in
                    [.json(200, #"{"count":2,"digest":"1","ranges":"# + String(repeating: "[", count: 1_000_000))]
                },
            ]
    }

    /// The value of an option in the request's address.
    private static func value(_ name: String, _ request: HostileRequest) -> String? {
        let query = request.target.split(separator: "?", maxSplits: 1).last ?? ""
        return query.split(separator: "&").first { $0.hasPrefix("\(name)=") }
            .map { PercentEncoding.decoded(String($0.dropFirst(name.count + 1))) }
    }

    private static var ofListings: [HostileCase] {
        let none: @Sendable (HostileRequest) -> [HostileAct] = { _ in [.json(404, "")] }
        return [
            reconcile("an empty list, and the rows where they are asked for", same, digest: none) { _ in
                [.json(200, "[]")]
            },
            reconcile("ever new rows", HostileOutcome(error: .limitReached), digest: none) {
                [.json(200, HostileRows.page([HostileRows.row("n\($0.number)")]))]
            },
            reconcile("rows that are not there where they are asked for", same, digest: none) {
                [.json(200, HostileRows.sorted(["a", "b", "ghost"], $0))]
            },
            reconcile("rows without ids", same, digest: none) {
                [
                    .json(
                        200,
                        $0.target.contains("id%20gt") || $0.target.contains("$skip=")
                            ? "[]" : #"[{"version":"1"},{"id":7}]"#)
                ]
            },
            reconcile("a web page", HostileOutcome(error: .brokenProtocol), digest: none) { _ in
                [.json(200, "<html>Log in</html>")]
            },
            reconcile("401 for ever", HostileOutcome(error: .unauthorized), digest: { _ in [.json(401, "")] }),
            HostileCase(.reconciles, "no row, however it is asked", .reconcile, removed) { _ in
                [.json(200, "[]")]
            },
            HostileCase(.reconciles, "other rows where some are asked for", .reconcile, removed) {
                if $0.target.contains("$digest") { return [.json(404, "")] }
                return [.json(200, $0.target.contains("id%20eq") ? HostileRows.one : "[]")]
            },
        ]
    }
}
