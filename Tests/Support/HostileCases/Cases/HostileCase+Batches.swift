internal import SluiceCore

extension HostileCase {
    /// Answers to a batch of two changes. Each is done when its own part of the answer, or a read, proves it.
    static var batches: [HostileCase] { ofLists + ofParts + ofWholes }

    private static let unproven = HostileOutcome.waits(.brokenProtocol)

    /// What a batch asks for: the ids of its parts, and the records that they make.
    private struct Asked {
        let ids: [String]
        let records: [String]

        init?(_ request: HostileRequest) {
            guard request.target.hasSuffix("/$batch"),
                let parts = (try? JSON(parsing: request.body))?["requests"]?.elements
            else { return nil }
            ids = parts.compactMap { $0["id"]?.string }
            records = parts.compactMap { $0["body"]?["id"]?.string }
        }

        /// A part of the answer that says that the change was made.
        func good(_ index: Int) -> String { part(index, 201, HostileRows.row(records[index], text: "mine")) }

        func part(_ index: Int, _ status: String, _ body: String, _ more: String = "") -> String {
            #"{"id":"\#(ids[index])","status":\#(status),"body":\#(body)\#(more.isEmpty ? "" : ",\(more)")}"#
        }

        func part(_ index: Int, _ status: Int, _ body: String) -> String { part(index, "\(status)", body) }
    }

    /// Answers a batch with `acts`, a change that comes by itself with `alone` or its record, and a list with no row.
    private static func batch(
        _ name: String, _ outcome: HostileOutcome, second: HostileOutcome.Operation? = nil,
        limits: HostileLimits = HostileLimits(), alone: [HostileAct]? = nil,
        _ acts: @escaping @Sendable (Asked, HostileRequest) -> [HostileAct]
    ) -> HostileCase {
        var outcome = outcome
        outcome.second = second
        return HostileCase(.batches, name, .batch, outcome, limits: limits) { request in
            if let asked = Asked(request) { return acts(asked, request) }
            if request.method == "GET" { return [.json(200, "[]")] }
            if let alone { return alone }
            let id = (try? JSON(parsing: request.body))?["id"]?.string ?? ""
            return [.json(201, HostileRows.row(id, text: "mine"))]
        }
    }

    private static func answered(
        _ name: String, _ outcome: HostileOutcome, second: HostileOutcome.Operation? = nil,
        limits: HostileLimits = HostileLimits(), _ parts: @escaping @Sendable (Asked) -> [String]
    ) -> HostileCase {
        batch(name, outcome, second: second, limits: limits) { asked, _ in
            [.json(200, #"{"responses":[\#(parts(asked).joined(separator: ","))]}"#)]
        }
    }

    /// Lists of answers that are not the ones to the requests.
    private static var ofLists: [HostileCase] {
        [
            answered("no answers", unproven) { _ in [] },
            answered("the second answer is left out", .applied, second: .kept(.pending, .brokenProtocol)) {
                [$0.good(0)]
            },
            answered("the first answer is left out", unproven, second: .applied) { [$0.good(1)] },
            answered("the answers in another order", .applied) { [$0.good(1), $0.good(0)] },
            answered("an answer that nobody asked for", .applied) {
                [#"{"id":"x","status":500,"body":null}"#, $0.good(0), #"{"status":201}"#, "null", "7", $0.good(1)]
            },
            answered("an answer twice", unproven, second: .applied) { [$0.good(0), $0.good(1), $0.good(0)] },
            batch("refusals that repeat the credentials", .parks(.rejected)) { asked, request in
                let text = HostileEcho.credentials(of: request).joined(separator: " and ")
                let parts = (0..<2).map { asked.part($0, 400, #"{"error":"who is \#(text)?"}"#) }
                return [.json(200, #"{"responses":[\#(parts.joined(separator: ","))]}"#)]
            },
            answered("two answers to one request", unproven, second: .applied) {
                [$0.part(0, 400, #"{"error":"no"}"#), $0.good(1), $0.good(0)]
            },
            answered("the id in capitals", unproven) { asked in
                [0, 1].map {
                    #"{"id":"\#(asked.ids[$0].uppercased())","status":201,"body":\#(HostileRows.row("new"))}"#
                }
            },
            answered("numbers for the ids", unproven) { _ in
                [#"{"id":1,"status":201,"body":{}}"#, #"{"id":2,"status":201,"body":{}}"#]
            },
            answered("each answer with the other one's record", .parks(.maybeApplied)) {
                [
                    $0.part(0, 201, HostileRows.row($0.records[1], text: "mine")),
                    $0.part(1, 201, HostileRows.row($0.records[0], text: "mine")),
                ]
            },
            answered("an answer within an answer", unproven) { asked in
                [#"{"id":"x","status":200,"body":{"responses":[\#(asked.good(0)),\#(asked.good(1))]}}"#]
            },
            answered("50,000 answers that nobody asked for", .applied) {
                Array(repeating: #"{"id":"x","status":201,"body":{}}"#, count: 50_000) + [$0.good(0), $0.good(1)]
            },
        ]
    }

    /// The first answer is unreadable, and the second is good.
    private static var ofParts: [HostileCase] {
        let statuses = ["\"201\"", "201.5", "null", "0", "-201", "99", "102", "600", "1e400", "99999999999999999999"]
        let bodies = [
            ("null", "null"), ("a text", "\"done\""), ("a list", "[\(HostileRows.row("new", text: "mine"))]"),
            ("a number", "7"), ("an object without members", "{}"),
        ]
        let refusals: [(String, Int, String, HostileOutcome)] = [
            ("204", 204, "null", unproven), ("302", 302, "null", unproven), ("304", 304, "null", unproven),
            ("400", 400, #"{"error":"no"}"#, .parks(.rejected)), ("403", 403, "null", .parks(.forbidden)),
            ("409 with another text", 409, HostileRows.row("new", text: "theirs"), .parks(.conflict)),
            ("409 with what was sent", 409, HostileRows.row("new", text: "mine"), .applied),
            ("500", 500, "null", .waits(.serverFailure)),
        ]
        return statuses.map { status in
            answered("\(status) for a status", unproven, second: .applied) {
                [$0.part(0, status, HostileRows.row("new", text: "mine")), $0.good(1)]
            }
        }
            + bodies.map { name, body in
                answered("\(name) for a record", unproven, second: .applied) { [$0.part(0, 201, body), $0.good(1)] }
            }
            + refusals.map { name, status, body, outcome in
                answered("\(name) to the first", outcome, second: .applied) {
                    [$0.part(0, status, body), $0.good(1)]
                }
            }
            + [
                answered("a line break in a part's header", .applied) {
                    [
                        $0.part(
                            0, "201", HostileRows.row("new", text: "mine"),
                            #""headers":{"ETag":"\"1\"\r\nX-Other: 1","X \r\n":"1","Location":7}"#), $0.good(1),
                    ]
                },
                answered("headers that are no object", .applied) {
                    [$0.part(0, "201", HostileRows.row("new", text: "mine"), #""headers":["ETag"]"#), $0.good(1)]
                },
                batch("a part that leads elsewhere", unproven, second: .applied) { asked, request in
                    let headers = #""headers":{"Location":"http://\#(request.elsewhere)/tables/items"}"#
                    return [.json(200, #"{"responses":[\#(asked.part(0, "307", "null", headers)),\#(asked.good(1))]}"#)]
                },
                batch(
                    "401 to the first for ever", .waits(.unauthorized, ends: .unauthorized), second: .applied,
                    alone: [.json(401, "")]
                ) { asked, _ in
                    [.json(200, #"{"responses":[\#(asked.part(0, 401, "null")),\#(asked.good(1))]}"#)]
                },
                answered("429 with a pause of 10^9 s to the first", .waits(.serverFailure), second: .applied) {
                    [$0.part(0, "429", "null", #""headers":{"Retry-After":"1000000000"}"#)]
                        + ($0.ids.count == 1 ? [] : [$0.good(1)])
                },
            ]
    }

    private static let hasty = HostileLimits(
        exchange: SyncRequest.Limits(deadline: .milliseconds(400), minimumRate: 0), requests: 8)

    /// Answers that do not answer a batch.
    private static var ofWholes: [HostileCase] {
        let bodies = [
            ("null for the answers", #"{"responses":null}"#), ("an object for the answers", #"{"responses":{}}"#),
            ("a text for the answers", #"{"responses":"done"}"#), ("a list", "[]"), ("null", "null"),
            ("a web page", "<html>Log in</html>"), ("nothing", ""), ("half an answer", #"{"responses":[{"id":"#),
            ("a million brackets", #"{"responses":"# + String(repeating: "[", count: 1_000_000)),
            ("answers twice", #"{"responses":[],"responses":[]}"#),
        ]
        return bodies.map { name, body in batch(name, unproven) { _, _ in [.json(200, body)] } }
            // It knows no batches: each change goes by itself.
            + [400, 404, 405, 410, 415, 501].map { status in
                batch("\(status) to the batch", .applied) { _, _ in [.json(status, #"{"error":"no"}"#)] }
            }
            // It says nothing of a part, not even where it shows a record: each change goes by itself.
            + [409, 412, 413, 424].map { status in
                batch("\(status) to the batch", .applied) { _, _ in
                    [.json(status, HostileRows.row("new", text: "theirs"))]
                }
            }
            + [
                batch("an object without answers", .applied) { _, _ in [.json(200, "{}")] },
                batch("500 with good answers", .waits(.serverFailure)) { asked, _ in
                    [.json(500, #"{"responses":[\#(asked.good(0)),\#(asked.good(1))]}"#)]
                },
                batch("302 to another port", unproven) { _, request in
                    [.answer(302, [("Location", "http://\(request.elsewhere)/tables/$batch")])]
                },
                batch("401 for ever", .waits(.unauthorized, ends: .unauthorized)) { _, _ in [.json(401, "{}")] },
                batch("the connection breaks", .applied) { _, _ in [.reset] },
                batch("the connection breaks for ever", .waits(.network, ends: .network), alone: [.reset]) { _, _ in
                    [.reset]
                },
                batch("silence", .applied, limits: hasty) { _, _ in [.hold] },
                batch("silence for ever", .waits(.timeout, ends: .timeout), limits: hasty, alone: [.hold]) { _, _ in
                    [.hold]
                },
            ]
    }
}
