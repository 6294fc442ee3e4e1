internal import SluiceCore

extension HostileCase {
    /// Addresses of next pages. Nothing is asked of the server that one names: its query is asked of the endpoint where it
    /// leads to the same resource, and for any other the list goes on by `$skip`.
    static var links: [HostileCase] { strangeLinks + strangeFields + endlessLinks + brokenLinks }

    private static let x = HostileRows.row("x")
    private static let y = HostileRows.row("y")

    /// Addresses that must not be followed, as a page or a header field gives them.
    private static var addresses: [(String, @Sendable (HostileRequest) -> String)] {
        [
            ("another port", { "http://\($0.elsewhere)/tables/items?$skip=1" }),
            (
                "another host",
                { "http://localhost:\($0.elsewhere.drop { $0 != ":" }.dropFirst())/tables/items?$skip=1" }
            ),
            ("https", { "https://\($0.elsewhere)/tables/items?$skip=1" }),
            ("an address without a scheme", { "//\($0.elsewhere)/tables/items?$skip=1" }),
            ("backslashes", { "\\\\\\\\\($0.elsewhere)\\\\tables\\\\items?$skip=1" }),
            ("a file", { _ in "file:///etc/passwd?$skip=1" }), ("a script", { _ in "javascript:alert(1)?$skip=1" }),
            ("the server as the user", { "http://\($0.server)@\($0.elsewhere)/tables/items?$skip=1" }),
            ("a password", { "http://user:word@\($0.server)/tables/items?$skip=1" }),
            ("IPv6", { "http://[::1]:\($0.elsewhere.drop { $0 != ":" }.dropFirst())/tables/items?$skip=1" }),
            ("a zone of IPv6", { "http://[::1%25lo]:\($0.elsewhere.drop { $0 != ":" }.dropFirst())/?$skip=1" }),
            ("another table", { "http://\($0.server)/tables/secrets?$skip=1" }),
            ("a path upwards", { "http://\($0.server)/tables/items/../../admin?$skip=1" }),
            ("an escaped path upwards", { "http://\($0.server)/tables/%2e%2e/admin?$skip=1" }),
            ("a host with a mark after it", { "http://\($0.server)\u{301}/tables/items?$skip=1" }),
        ]
    }

    private static var strangeLinks: [HostileCase] {
        addresses.map { name, address in
            HostileCase(.links, "a next page at \(name)", .pages, .brings(["x"])) { request in
                request.number == 1
                    ? [.json(200, HostileRows.page([x], next: "\"\(address(request))\""))] : [.json(200, "[]")]
            }
        }
    }

    private static var strangeFields: [HostileCase] {
        addresses.map { name, address in
            HostileCase(.links, "a Link field that leads to \(name)", .pages, .brings(["x"])) { request in
                request.number == 1
                    ? [.json(200, HostileRows.page([x]), [("Link", "<\(address(request))>; rel=next")])]
                    : [.json(200, "[]")]
            }
        } + [
            HostileCase(.links, "a next page elsewhere", .pull, HostileRows.brought) { request in
                request.number == 1
                    ? [.json(200, HostileRows.page([x], next: "\"http://\(request.elsewhere)/tables/items?a=1\""))]
                    : [.json(200, "[]")]
            },
            HostileCase(.links, "a Link field with a line break", .pages, .fails(.network)) { request in
                let link = "<http://\(request.elsewhere)/?$skip=1>\r\n ; rel=next\r\nX-More: yes"
                return [.json(200, HostileRows.page([x]), [("Link", link)])]
            },
        ]
    }

    private static var endlessLinks: [HostileCase] {
        [
            HostileCase(.links, "a next page that is the page itself", .pages, .fails(.brokenProtocol)) { request in
                [.json(200, HostileRows.page([x], next: "\"http://\(request.server)/tables/items?$skip=1\""))]
            },
            HostileCase(.links, "next pages in a circle", .pages, .fails(.brokenProtocol)) { request in
                let isEven = request.number.isMultiple(of: 2)
                return [.json(200, HostileRows.page([isEven ? x : y], next: "\"?page=\(isEven ? "a" : "b")\""))]
            },
            HostileCase(.links, "ever new addresses for one page", .pages, .fails(.brokenProtocol)) { request in
                [.json(200, HostileRows.page([x], next: "\"?page=\(request.number)\""))]
            },
            HostileCase(.links, "empty pages, each with a next one", .pages, .brings([])) { request in
                [.json(200, HostileRows.page([], next: "\"?page=\(request.number)\""))]
            },
            HostileCase(.links, "an address of 1 MB", .pages, .fails(.brokenProtocol)) { request in
                let long = String(repeating: "a", count: 1 << 20)
                return [.json(200, HostileRows.page([x], next: "\"?page=\(request.number)&a=\(long)\""))]
            },
        ]
    }

    private static var brokenLinks: [HostileCase] {
        let links: [(String, String, HostileOutcome)] = [
            ("a number", "7", .fails(.brokenProtocol)), ("an object", "{}", .fails(.brokenProtocol)),
            ("a text without a character", "\"\"", .brings(["x"])), ("null", "null", .brings(["x"])),
            ("a line break", "\"?a=1\\r\\nX-More: yes\"", .brings(["x"])),
            ("NUL", "\"?a=\\u0000\"", .brings(["x"])), ("a fragment", "\"#here\"", .brings(["x"])),
            ("spaces", "\"   \"", .brings(["x"])),
        ]
        return links.map { name, link, outcome in
            HostileCase(
                .links, "a next page that is \(name)", .pages, outcome, answer: once(HostileRows.page([x], next: link)))
        }
    }
}
