internal import SluiceCore

extension HostileCase {
    /// Refusals for who asks and for when: a token is renewed once, and no pause is longer than the client's own limit.
    static var refusals: [HostileCase] { credentials + echoes + pauses + ofChanges }

    private static func refused(
        _ name: String, _ call: HostileCall, _ outcome: HostileOutcome, _ status: Int,
        _ fields: [(String, String)] = [], requests: Int
    ) -> HostileCase {
        HostileCase(
            .refusals, name, call, outcome, limits: HostileLimits(requests: requests, duration: .seconds(5)),
            answer: always([.json(status, #"{"error":"no"}"#, fields)]))
    }

    private static var credentials: [HostileCase] {
        [
            refused("401 for ever", .pull, .fails(.unauthorized), 401, requests: 2),
            refused("401 for ever", .insert, .waits(.unauthorized, ends: .unauthorized), 401, requests: 2),
            refused(
                "401 that asks for another kind of credentials", .pull, .fails(.unauthorized), 401,
                [("WWW-Authenticate", "Basic realm=\"all\", NTLM, Negotiate")], requests: 2),
            refused("403 for ever", .pull, .fails(.forbidden), 403, requests: 1),
            refused("403 for ever", .insert, .parks(.forbidden), 403, [("X-CSRF-Token", "Required")], requests: 1),
            refused(
                "407 from what says it is a proxy", .pull, .fails(.serverFailure), 407,
                [("Proxy-Authenticate", "Basic realm=\"proxy\"")], requests: 2),
            refused("511 from a network with a login", .pull, .fails(.serverFailure), 511, requests: 2),
        ]
    }

    /// Refusals that repeat the request's credentials.
    private static var echoes: [HostileCase] {
        func echo(
            _ name: String, _ call: HostileCall, _ outcome: HostileOutcome,
            _ answer: @escaping @Sendable (String) -> HostileAct
        ) -> HostileCase {
            HostileCase(.refusals, name, call, outcome) { request in
                [answer(HostileEcho.credentials(of: request).joined(separator: " and "))]
            }
        }
        let written = HostileEcho.allCases.flatMap { echo in
            [(HostileCall.pull, HostileOutcome.fails(.rejected)), (.insert, .parks(.rejected))].map { call, outcome in
                HostileCase(.refusals, "400 that repeats the credentials \(echo.rawValue)", call, outcome) { request in
                    let text = HostileEcho.credentials(of: request).map(echo.text).joined(separator: " and ")
                    return [.json(400, #"{"error":"who is \#(text)?"}"#)]
                }
            }
        }
        return written + [
            echo("400 whose text is the credentials", .update, .parks(.rejected)) {
                .answer(400, body: Array($0.utf8))
            },
            echo("403 with the credentials in its fields", .delete, .parks(.forbidden)) {
                .answer(403, [("Location", "/login?\($0)"), ("WWW-Authenticate", "Bearer error=\"\($0)\"")])
            },
            echo("a page with the credentials for a name, twice", .pull, .fails(.brokenProtocol)) {
                .json(200, #"{"items":[],"\#($0)":1,"\#($0)":2}"#)
            },
        ]
    }

    private static var pauses: [HostileCase] {
        let values = [
            "1000000000", "99999999999999999999999999", "-1", "NaN", "inf", "1e9", "0x10", "", "soon", "1, 2",
            "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 99 Dec 2024 99:99:99 GMT",
            "\u{660}\u{661}",
        ]
        return values.flatMap { value in
            [429, 503].map { status in
                refused(
                    "\(status) with Retry-After “\(value)”", .pull, .fails(.serverFailure), status,
                    [("Retry-After", value)], requests: 2)
            }
        }
            + [
                refused(
                    "503 with two pauses", .pull, .fails(.serverFailure), 503,
                    [("Retry-After", "1000000000"), ("Retry-After", "0")], requests: 2),
                refused("408 for ever", .pull, .fails(.serverFailure), 408, requests: 2),
            ]
    }

    private static var ofChanges: [HostileCase] {
        [429, 503, 408, 502, 504].map { status in
            refused(
                "\(status) with a pause of 10^9 s", .update, .waits(.serverFailure), status,
                [("Retry-After", "1000000000")], requests: 2)
        }
    }
}
