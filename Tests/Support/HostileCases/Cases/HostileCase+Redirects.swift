internal import SluiceCore

extension HostileCase {
    /// Answers that lead elsewhere. None is followed: the address is the endpoint's, and nobody else's.
    static var redirects: [HostileCase] {
        redirectsByStatus + redirectsByLocation + redirectsOfChanges + hints
    }

    private static func redirect(_ status: Int, _ location: @escaping @Sendable (HostileRequest) -> String) -> Answer {
        { [.answer(status, [("Location", location($0))])] }
    }

    private static var redirectsByStatus: [HostileCase] {
        [300, 301, 302, 303, 305, 307, 308].map { status in
            HostileCase(
                .redirects, "\(status) to another port", .pull, .fails(.brokenProtocol),
                answer: redirect(status) { "http://\($0.elsewhere)/tables/items" })
        }
    }

    private static var redirectsByLocation: [HostileCase] {
        let locations: [(String, @Sendable (HostileRequest) -> String)] = [
            ("another host", { "http://localhost:\($0.elsewhere.drop { $0 != ":" }.dropFirst())/tables/items" }),
            ("https", { "https://\($0.elsewhere)/tables/items" }),
            ("an address without a scheme", { "//\($0.elsewhere)/tables/items" }),
            ("a path", { _ in "/tables/other" }), ("a relative path", { _ in "../../other" }),
            ("its own address, for ever", { "http://\($0.server)\($0.target)" }),
            ("a file", { _ in "file:///etc/passwd" }), ("a script", { _ in "javascript:alert(1)" }),
            ("data", { _ in "data:application/json,[]" }), ("FTP", { "ftp://\($0.elsewhere)/" }),
            ("an address with the server as its user", { "http://\($0.server)@\($0.elsewhere)/" }),
            ("an address with a password", { "http://user:word@\($0.elsewhere)/" }),
            ("IPv6", { "http://[::1]:\($0.elsewhere.drop { $0 != ":" }.dropFirst())/" }),
            ("IPv4 within IPv6", { "http://[::ffff:127.0.0.1]:\($0.elsewhere.drop { $0 != ":" }.dropFirst())/" }),
            ("a host that is a number", { "http://2130706433:\($0.elsewhere.drop { $0 != ":" }.dropFirst())/" }),
            ("an address with a line break in it", { "http://\($0.elsewhere)/\r\nX-More: yes" }),
            ("nowhere", { _ in "" }),
            ("an address of 60 KB", { "http://\($0.elsewhere)/" + String(repeating: "a", count: 60_000) }),
        ]
        return locations.map { name, location in
            HostileCase(
                .redirects, "302 to \(name)", .pull, .fails(.brokenProtocol), answer: redirect(302, location))
        }
    }

    private static var redirectsOfChanges: [HostileCase] {
        [HostileCall.insert, .update, .delete].flatMap { call in
            [301, 302, 303, 307, 308].map { status in
                HostileCase(
                    .redirects, "\(status) to another port", call, .waits(.brokenProtocol),
                    answer: redirect(status) { "http://\($0.elsewhere)\($0.target)" })
            }
        }
    }

    /// Other ways of saying where to go.
    private static var hints: [HostileCase] {
        [
            HostileCase(
                .redirects, "302 without an address", .pull, .fails(.brokenProtocol), answer: always([.answer(302)])),
            HostileCase(.redirects, "302 with two addresses", .pull, .fails(.brokenProtocol)) {
                [.answer(302, [("Location", "http://\($0.server)/"), ("Location", "http://\($0.elsewhere)/")])]
            },
            HostileCase(.redirects, "302 to another port", .lookup, .fails(.brokenProtocol)) {
                [.answer(302, [("Location", "http://\($0.elsewhere)/")])]
            },
            HostileCase(.redirects, "an alternative service elsewhere", .pull, HostileRows.brought) { request in
                let service = "h2=\"\(request.elsewhere)\"; ma=86400; persist=1"
                return once([.json(200, HostileRows.one, [("Alt-Svc", service)])])(request)
            },
            HostileCase(.redirects, "200 with a Refresh field", .pull, HostileRows.brought) { request in
                once([.json(200, HostileRows.one, [("Refresh", "0; url=http://\(request.elsewhere)/")])])(request)
            },
            HostileCase(.redirects, "200 with Location and Content-Location elsewhere", .insert, .applied) { request in
                let there = "http://\(request.elsewhere)/tables/items/new"
                let record = HostileRows.row("new", text: "mine")
                return [.json(201, record, [("Location", there), ("Content-Location", there)])]
            },
        ]
    }
}
