internal import SluiceCore

extension HostileCase {
    /// Answers whose length is not what they say: an answer that broke off is an error of the network, and nothing of
    /// it is stored.
    static var framing: [HostileCase] { lengths + chunks + ends + ofChanges }

    private static let body = HostileRows.one
    private static let count = body.utf8.count

    private static func framed(
        _ name: String, _ outcome: HostileOutcome, _ head: String, _ body: String = body
    ) -> HostileCase {
        HostileCase(
            .framing, name, .pull, outcome,
            answer: asLong(as: outcome, [.text("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n\(body)"), .close]))
    }

    private static var lengths: [HostileCase] {
        [
            framed("a length that is too long", .fails(.network), "Content-Length: \(count + 1)"),
            framed("a length that is far too long", .fails(.network), "Content-Length: 1000000"),
            framed("a length that is too short", .fails(.brokenProtocol), "Content-Length: \(count - 1)"),
            framed("a length of 0", .fails(.brokenProtocol), "Content-Length: 0"),
            framed("a negative length", .fails(.network), "Content-Length: -1"),
            framed("a length with a plus", .fails(.network), "Content-Length: +\(count)"),
            framed("a length that is no number", .fails(.network), "Content-Length: many"),
            framed("a length in hexadecimal", .fails(.network), "Content-Length: 0x\(String(count, radix: 16))"),
            framed("a length of 2^64", .fails(.network), "Content-Length: 18446744073709551616"),
            framed("no length's number", .fails(.network), "Content-Length: "),
            framed(
                "two lengths", .fails(.network), "Content-Length: \(count)\r\nContent-Length: \(count - 1)"),
            framed("two lengths in one field", .fails(.network), "Content-Length: \(count), \(count - 1)"),
            framed(
                "a length and chunks", .fails(.network), "Content-Length: \(count)\r\nTransfer-Encoding: chunked",
                "2\r\n[]\r\n0\r\n\r\n"),
            framed("no length, up to the connection's end", HostileRows.brought, "X-A: b"),
            framed("no length, cut", .fails(.brokenProtocol), "X-A: b", String(body.dropLast(9))),
        ]
    }

    private static func chunked(
        _ name: String, _ outcome: HostileOutcome, _ chunks: String, coding: String = "chunked"
    ) -> HostileCase { framed("chunks: \(name)", outcome, "Transfer-Encoding: \(coding)", chunks) }

    private static var chunks: [HostileCase] {
        let size = String(count, radix: 16)
        return [
            chunked("all is well", HostileRows.brought, "\(size)\r\n\(body)\r\n0\r\n\r\n"),
            chunked("the last is missing", .fails(.network), "\(size)\r\n\(body)\r\n"),
            chunked("cut within one", .fails(.network), "\(size)\r\n\(body.dropLast(9))"),
            chunked("a size that is no number", .fails(.network), "zz\r\n\(body)\r\n0\r\n\r\n"),
            chunked("a negative size", .fails(.network), "-1\r\n\(body)\r\n0\r\n\r\n"),
            chunked("a size of 2^64", .fails(.network), "10000000000000000\r\n\(body)\r\n0\r\n\r\n"),
            chunked("a size of 2^63", .fails(.network), "8000000000000000\r\n\(body)"),
            chunked("a size that is too small", .fails(.network), "2\r\n\(body)\r\n0\r\n\r\n"),
            chunked("a size without a digit", .fails(.network), "\r\n\(body)\r\n0\r\n\r\n"),
            chunked("an extension", HostileRows.brought, "\(size);a=\"b\"\r\n\(body)\r\n0\r\n\r\n"),
            chunked(
                "trailer fields", HostileRows.brought,
                "\(size)\r\n\(body)\r\n0\r\nX-A: b\r\nETag: \"x\"\r\n\r\n"),
            chunked(
                "a length among the trailer fields", .fails(.network),
                "\(size)\r\n\(body)\r\n0\r\nContent-Length: 1\r\n\r\n"),
            chunked("none at all", .fails(.brokenProtocol), "0\r\n\r\n"),
            chunked("twice", .fails(.brokenProtocol), "2\r\n[]\r\n0\r\n\r\n", coding: "chunked, chunked"),
            chunked("of an unknown coding", .fails(.brokenProtocol), "[]", coding: "unknown"),
        ]
    }

    /// Where lines and heads end.
    private static var ends: [HostileCase] {
        let good = "Content-Length: \(count)"
        func raw(_ name: String, _ outcome: HostileOutcome, _ text: String) -> HostileCase {
            HostileCase(.framing, name, .pull, outcome, answer: asLong(as: outcome, [.text(text), .close]))
        }
        return [
            raw("lines that end with a line feed alone", .fails(.network), "HTTP/1.1 200 OK\n\(good)\n\n\(body)"),
            raw("lines that end with a return alone", .fails(.network), "HTTP/1.1 200 OK\r\(good)\r\r\(body)"),
            framed("a folded header field", .fails(.network), "X-A: b\r\n more\r\n\(good)"),
            framed("a space before the colon", .fails(.network), "Content-Length : \(count)"),
            framed("a field without a colon", .fails(.network), "Nothing\r\n\(good)"),
            framed("a field without a name", .fails(.network), ": value\r\n\(good)"),
            framed("NUL in a field's name", .fails(.network), "X-\u{0}A: b\r\n\(good)"),
            framed("NUL in a field's value", .fails(.network), "X-A: b\u{0}c\r\n\(good)"),
            framed("a return in a field's value", .fails(.network), "X-A: b\rX-B: c\r\n\(good)"),
            raw("a head that breaks off", .fails(.network), "HTTP/1.1 200 OK\r\nContent-Le"),
            raw("a status line that breaks off", .fails(.network), "HTTP/1.1 20"),
            raw("nothing at all", .fails(.network), ""),
        ]
    }

    private static var ofChanges: [HostileCase] {
        [HostileCall.insert, .update].map { call in
            HostileCase(
                .framing, "an answer that is cut", call, .waits(.network, ends: .network),
                answer: always([.text("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"id\":"), .close]))
        } + [
            HostileCase(
                .framing, "an answer that is cut", .delete, .waits(.network, ends: .network),
                answer: always([.text("HTTP/1.1 204 No Cont"), .close]))
        ]
    }
}
