internal import SluiceCore

extension HostileCase {
    /// 409 and 412. A body is evidence only if it is the record, with a version of the server's.
    static var conflicts: [HostileCase] {
        [409, 412].flatMap { status in bodies(status) }
    }

    private static func bodies(_ status: Int) -> [HostileCase] {
        // A 409 without evidence is about something else than the record, and held with its reason; a 412 stays an error.
        let unproven = status == 409 ? HostileOutcome.parks(.rejected) : .waits(.preconditionFailed)
        let bodies: [(String, String, HostileOutcome)] = [
            ("no body", "", unproven), ("a web page", "<html>no</html>", unproven), ("null", "null", unproven),
            ("a list", "[\(HostileRows.row("new"))]", unproven), ("a message", #"{"error":"no"}"#, unproven),
            ("the record without a version", #"{"id":"new","text":"mine"}"#, unproven),
            ("a name twice", #"{"id":"new","version":"1","id":"new"}"#, unproven),
            ("a million brackets", String(repeating: "[", count: 1_000_000), unproven),
            ("a message of control characters", #"{"error":"\u001b[2J\u202e\u0000 no"}"#, unproven),
            (
                "a record of another id", HostileRows.row("other"), .parks(status == 409 ? .rejected : .brokenProtocol)
            ),
            ("a number for the version", #"{"id":"new","version":7}"#, unproven),
            ("a record with another text", HostileRows.row("new", text: "theirs"), .parks(.conflict)),
            ("a record with what was sent", HostileRows.row("new", text: "mine"), .applied),
        ]
        return bodies.map { name, body, outcome in
            HostileCase(.conflicts, "\(status) with \(name)", .insert, outcome) {
                $0.method == "GET" ? [.json(200, "[]")] : [.json(status, body)]
            }
        }
            + [
                HostileCase(.conflicts, "\(status) with another version, again and again", .update, .parks(.conflict)) {
                    [.json(status, HostileRows.row("a", text: "theirs \($0.number)"))]
                }
            ]
    }
}
