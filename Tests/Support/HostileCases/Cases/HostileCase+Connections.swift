internal import SluiceCore

extension HostileCase {
    /// Bytes that belong to no request, and answers that are no HTTP: none of it becomes the answer to a request.
    static var connections: [HostileCase] { surplus + strangers + closings }

    private static let evil = HostileRows.page([HostileRows.row("evil")])

    private static func answer(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static var surplus: [HostileCase] {
        let both = answer(HostileRows.one) + answer(evil)
        return [
            HostileCase(
                .connections, "a second answer after the first", .pull, HostileRows.brought,
                answer: once([.text(both)])),
            HostileCase(
                .connections, "garbage after the answer", .pull, HostileRows.brought,
                answer: once([.text(answer(HostileRows.one) + "garbage\r\n\r\n")])),
            HostileCase(
                .connections, "empty lines after the answer", .pull, HostileRows.brought,
                answer: once([.text(answer(HostileRows.one) + "\r\n\r\n")])),
            HostileCase(
                .connections, "a body after 204", .pull, .fails(.brokenProtocol),
                answer: always([.text("HTTP/1.1 204 No Content\r\n\r\n\(answer(evil))")])),
            HostileCase(
                .connections, "a body after 304", .pull, .fails(.brokenProtocol),
                answer: always([.text("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n\(answer(evil))")])),
            HostileCase(
                .connections, "a second answer to a change", .insert, .applied,
                answer: { request in
                    let record = HostileRows.row("new", text: "mine")
                    return request.method == "POST"
                        ? [.text(answer(record) + answer(evil))] : [.json(200, "[]")]
                }),
        ]
    }

    private static func raw(
        _ name: String, _ outcome: HostileOutcome, _ text: String, call: HostileCall = .pull
    ) -> HostileCase {
        HostileCase(.connections, name, call, outcome, answer: asLong(as: outcome, [.text(text), .close]))
    }

    private static func raw(_ name: String, _ text: String) -> HostileCase { raw(name, .fails(.network), text) }

    private static var strangers: [HostileCase] {
        let body = HostileRows.one
        let fields = "\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        return [
            raw("HTTP/0.9", body), raw("HTTP/1.0", HostileRows.brought, "HTTP/1.0 200 OK\(fields)"),
            raw("HTTP/2.0 in a text", "HTTP/2.0 200 OK\(fields)"), raw("HTTP/9.9", "HTTP/9.9 200 OK\(fields)"),
            raw("another protocol's name", "ICY 200 OK\(fields)"),
            raw("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            raw("SSH", "SSH-2.0-OpenSSH_9.9\r\n"), raw("TLS", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{28}"),
            raw("a request in the place of an answer", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
            raw("nothing but NUL", String(repeating: "\u{0}", count: 1000)),
            raw("a status of one digit", "HTTP/1.1 2 OK\(fields)"),
            raw("a status of four digits", "HTTP/1.1 2000 OK\(fields)"),
            raw("a status of 99", "HTTP/1.1 099 OK\(fields)"), raw("a status of 0", "HTTP/1.1 000 OK\(fields)"),
            raw("a status that is no number", "HTTP/1.1 abc OK\(fields)"),
            raw("a status with a minus", "HTTP/1.1 -20 OK\(fields)"),
            raw("no status", "HTTP/1.1\(fields)"),
            raw("a status without a reason", HostileRows.brought, "HTTP/1.1 200\(fields)"),
            raw(
                "101 Switching Protocols", .fails(.brokenProtocol),
                "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"),
            raw("HTTP/0.9", .waits(.network, ends: .network), "{}", call: .insert),
            raw("SSH", .waits(.network, ends: .network), "SSH-2.0-OpenSSH_9.9\r\n", call: .delete),
        ]
    }

    private static var closings: [HostileCase] {
        [
            HostileCase(
                .connections, "a reset in the place of an answer", .pull, .fails(.network), answer: always([.reset])),
            HostileCase(
                .connections, "a reset within the body", .pull, .fails(.network),
                answer: always([
                    .text("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n["), .pause(.milliseconds(20)), .reset,
                ])),
            HostileCase(
                .connections, "a reset", .insert, .waits(.network, ends: .network), answer: always([.reset])),
            HostileCase(
                .connections, "a connection that is closed after each answer, unsaid", .pull, HostileRows.brought,
                answer: { [.json(200, $0.number == 1 ? HostileRows.one : "[]"), .close] }),
            HostileCase(
                .connections, "Connection: close, and the connection stays open", .pull, HostileRows.brought,
                answer: { request in
                    [.json(200, request.number == 1 ? HostileRows.one : "[]", [("Connection", "close")])]
                }),
        ]
    }
}
