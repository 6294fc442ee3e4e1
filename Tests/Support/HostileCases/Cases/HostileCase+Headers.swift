internal import SluiceCore

extension HostileCase {
    /// Header fields: too many, too long, or with characters that would end the line if they went back to a server.
    static var headers: [HostileCase] { floods + tags + versions + others }

    private static func flooded(_ name: String, _ outcome: HostileOutcome, _ fields: [(String, String)]) -> HostileCase
    {
        HostileCase(
            .headers, name, .pull, outcome, answer: asLong(as: outcome, [.json(200, HostileRows.one, fields)]))
    }

    private static var floods: [HostileCase] {
        let long = String(repeating: "v", count: 1 << 20)
        return [
            flooded("100,000 fields", .fails(.network), (0..<100_000).map { ("X-\($0)", "v") }),
            flooded("a value of 1 MB", .fails(.network), [("X-A", long)]),
            flooded("a name of 1 MB", .fails(.network), [(long, "v")]),
            flooded("100 fields", HostileRows.brought, (0..<100).map { ("X-\($0)", "v") }),
            HostileCase(
                .headers, "1000 times 100 Continue, and then the answer", .pull, HostileRows.brought,
                answer: once([
                    .repeated(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), times: 1000), .json(200, HostileRows.one),
                ])),
            HostileCase(.headers, "early hints of another origin, and then the answer", .pull, HostileRows.brought) {
                once([
                    .text("HTTP/1.1 103 Early Hints\r\nLink: <http://\($0.elsewhere)/a.css>; rel=preload\r\n\r\n"),
                    .json(200, HostileRows.one),
                ])($0)
            },
            HostileCase(
                .headers, "a flood of 100 Continue", .pull, .fails(.network),
                limits: HostileLimits(exchange: SyncRequest.Limits(deadline: .seconds(15)), requests: 3),
                answer: always([.repeated(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), times: 100_000_000)])),
        ]
    }

    /// Entity tags of the answer to a change, which become the record's version.
    private static var tags: [HostileCase] {
        let values: [(String, String, HostileOutcome)] = [
            ("a line break", "\"8\r\nX-More: yes\"", .applied), ("NUL", "\"8\u{0}\"", .waits(.network, ends: .network)),
            ("quotes", "\"8\"9\"", .applied), ("a backslash at its end", "\"8\\\"", .applied),
            ("no character", "\"\"", .applied), ("one quote", "\"", .applied), ("a weak tag", "W/\"8\"", .applied),
            ("several tags", "\"8\", \"9\"", .applied), ("*", "*", .applied),
            ("60 KB", "\"\(String(repeating: "8", count: 60_000))\"", .applied),
            ("letters beyond ASCII", "\"é😀\"", .applied),
        ]
        return values.map { name, value, outcome in
            HostileCase(.headers, "an entity tag: \(name)", .insert, outcome) { request in
                request.method == "GET"
                    ? [.json(200, "[]")] : [.json(201, HostileRows.row("new", text: "mine"), [("ETag", value)])]
            }
        }
    }

    /// Versions in bodies, which go back in `If-Match`.
    private static var versions: [HostileCase] {
        [
            ("a line break", #"8\r\nX-More: yes"#), ("NUL", #"8\u0000"#), ("a control character", #"8\u001b[2J"#),
        ].map { name, version in
            HostileCase(.headers, "a version that no header field can hold: \(name)", .insert, .waits(.brokenProtocol))
            {
                $0.method == "GET"
                    ? [.json(200, "[]")]
                    : [.json(201, #"{"id":"new","text":"mine","version":"\#(version)"}"#)]
            }
        }
    }

    private static var others: [HostileCase] {
        let far = "Fri, 31 Dec 9999 23:59:59 GMT"
        let unknown = ["tomorrow", ""]
        // Where the pull before it has left the cursor.
        let start = "2023-11-14T22:12:50.000Z"
        return [
            flooded(
                "an unreadable content type", HostileRows.brought, [("Content-Type", "\";;;,,\"")]),
            flooded("cookies", HostileRows.brought, [("Set-Cookie", "a=b"), ("Set-Cookie", "c=d; Path=/")]),
            flooded("a field of escape sequences", .fails(.network), [("X-A", "\u{1B}[2J")]),
            flooded("bytes beyond ASCII in a field", HostileRows.brought, [("X-A", "é😀")]),
            HostileCase(
                .headers, "a reason of escape sequences", .pull, .fails(.rejected),
                answer: always([.text("HTTP/1.1 418 \u{1B}[2J\u{202E}teapot\r\nContent-Length: 0\r\n\r\n")])),
            HostileCase(
                .headers, "a reason of 60 KB", .pull, .fails(.rejected),
                answer: always([
                    .text("HTTP/1.1 418 \(String(repeating: "x", count: 60_000))\r\nContent-Length: 0\r\n\r\n")
                ])),
        ]
            // A clock that has moved otherwise than the one here was set: the pull goes back and compares.
            + [
                dated("the date “\(far)”", far, cursor: "2023-11-14T22:12:20.000Z"),
                dated(
                    "a date ten minutes before the last one", "Tue, 14 Nov 2023 22:03:31 GMT",
                    cursor: "2023-11-14T22:02:50.000Z"),
                dated("the date of 1970", "Thu, 01 Jan 1970 00:00:00 GMT", cursor: "2023-11-14T22:12:29.000Z"),
            ]
            // Of a server that does not know the time only what it has shown is taken for past.
            + unknown.map { date in
                flooded("the date “\(date)”", .brings(["a", "b", "x"], cursor: .at(start)), [("Date", date)])
            }
    }

    /// A server with the rows `a`, `b` and `x`, whatever it is asked, whose answers bear that date.
    private static func dated(_ name: String, _ date: String, cursor: String) -> HostileCase {
        HostileCase(.headers, name, .pull, .brings(["a", "b", "x"], cursor: .at(cursor))) { request in
            if request.target.contains("$digest") { return [.json(404, "")] }
            let isAfter = ["id%20gt", "id%20ne", "$skip="].contains { request.target.contains($0) }
            let page = isAfter ? "[]" : HostileRows.sorted(["a", "b", "x"], request)
            return [.answer(200, [("Content-Type", "application/json"), ("Date", date)], body: Array(page.utf8))]
        }
    }
}
