internal import SluiceCore

extension HostileCase {
    /// Answers to changes. A change is done when the server's own record says so, and nothing else counts.
    static var changes: [HostileCase] { ofInserts + readBacks + ofUpdates + ofDeletes }

    private static let mine = HostileRows.row("new", text: "mine")

    /// Answers a change, and every list with `list`.
    private static func change(
        _ name: String, _ call: HostileCall, _ outcome: HostileOutcome, _ status: Int, _ body: String,
        fields: [(String, String)] = [], list: String = "[]"
    ) -> HostileCase {
        HostileCase(.changes, name, call, outcome) {
            $0.method == "GET" ? [.json(200, list)] : [.json(status, body, fields)]
        }
    }

    /// An insert is answered well, but not with its record, and the list does not have it.
    private static var ofInserts: [HostileCase] {
        let bodies = [
            ("an empty answer", 201, ""), ("an object without members", 201, "{}"),
            ("a list with the record", 201, "[\(mine)]"), ("a list without a row", 200, "[]"), ("null", 201, "null"),
            ("a number for the id", 201, #"{"id":7,"version":"1"}"#),
            ("null for the id", 201, #"{"id":null,"version":"1"}"#),
            ("a record without a version", 201, #"{"id":"new","text":"mine"}"#),
            ("null for the version", 201, #"{"id":"new","version":null}"#),
            ("an empty version", 201, #"{"id":"new","text":"mine","version":""}"#),
            ("a number for the version", 201, #"{"id":"new","version":7}"#), ("202 Accepted", 202, ""),
            ("204", 204, ""), ("206 with a part of the record", 206, #"{"id":"new"}"#),
            ("a record within a record", 201, #"{"d":\#(mine)}"#),
        ]
        return bodies.map { name, status, body in change(name, .insert, .waits(.brokenProtocol), status, body) }
            + [
                change(
                    "a record of another id", .insert, .parks(.maybeApplied), 201,
                    HostileRows.row("other", text: "mine")),
                change(
                    "an id that differs in case", .insert, .parks(.maybeApplied), 201,
                    HostileRows.row("NEW", text: "mine")),
                change(
                    "a tombstone", .insert, .parks(.conflict), 201,
                    HostileRows.row("new", text: "mine", #""deleted":true"#)),
                change(
                    "a weak tag and no version", .insert, .waits(.brokenProtocol), 201, #"{"id":"new","text":"mine"}"#,
                    fields: [("ETag", "W/\"1\"")]),
            ]
    }

    /// What the list says when the answer proves nothing.
    private static var readBacks: [HostileCase] {
        let lists: [(String, String, HostileOutcome)] = [
            ("the record", HostileRows.page([mine]), .applied),
            ("another record", HostileRows.page([HostileRows.row("other")]), .waits(.brokenProtocol)),
            (
                "the record with another text", HostileRows.page([HostileRows.row("new", text: "theirs")]),
                .parks(.conflict)
            ),
            ("a web page", "<html>Log in</html>", .waits(.brokenProtocol)),
            ("the record twice", HostileRows.page([mine, mine]), .applied),
            ("a number for the id", #"[{"id":7}]"#, .waits(.brokenProtocol)),
        ]
        return lists.map { name, list, outcome in
            change("an empty answer, and the list has \(name)", .insert, outcome, 201, "", list: list)
        }
    }

    /// The record `a` as the client knows it: under the version that is the condition of its changes.
    private static func unmoved(_ text: String = "one") -> String {
        #"{"id":"a","text":"\#(text)","version":"v1","updatedAt":"\#(HostileRows.time)"}"#
    }

    private static var ofUpdates: [HostileCase] {
        let a = HostileRows.row("a", text: "mine")
        let old = HostileRows.page([unmoved()])
        return [
            change("the record", .update, .applied, 200, a),
            change(
                "the record as it was, and the list has it so", .update, .waits(.brokenProtocol), 200, unmoved(),
                list: old),
            change(
                "the request's own body under the condition's version", .update, .waits(.brokenProtocol), 200,
                unmoved("mine"), list: old),
            change(
                "the record under the condition's version, and the list has it as sent", .update, .applied, 200,
                unmoved("mine"), list: HostileRows.page([unmoved("mine")])),
            change(
                "what was sent alone, under a new version", .update, .applied, 200,
                #"{"id":"a","text":"mine","version":"8"}"#),
            change(
                "a tag with a suffix of the web server's", .update, .applied, 200, a,
                fields: [("ETag", "\"7-gzip\"")]),
            change(
                "412 with the request's own body, and the list has the old one", .update, .parks(.conflict), 412,
                unmoved("mine"), list: old),
            change("a record of another id", .update, .parks(.brokenProtocol), 200, HostileRows.row("b", text: "mine")),
            change("a tombstone", .update, .parks(.conflict), 200, HostileRows.row("a", #""deleted":true"#)),
            change("an empty answer, and the list has it", .update, .applied, 200, "", list: HostileRows.page([a])),
            change(
                "an empty answer, and the list has the old one", .update, .parks(.conflict), 200, "",
                list: HostileRows.page([HostileRows.row("a")])),
            change("404, and the list has it as sent", .update, .applied, 404, "", list: HostileRows.page([a])),
            change("404, and the list has nothing", .update, .parks(.conflict), 404, ""),
            change("410 with a web page", .update, .parks(.conflict), 410, "<html>gone</html>"),
        ]
    }

    private static var ofDeletes: [HostileCase] {
        let old = HostileRows.page([unmoved()])
        let pages = [
            ("an error", 200, #"{"error":"not today"}"#), ("a web page", 200, "<html>Log in</html>"),
            ("the live record", 200, unmoved()), ("nothing yet", 202, ""),
        ]
        return pages.flatMap { name, status, body in
            [
                change(
                    "\(status) with \(name), and the list has the record", .delete, .waits(.brokenProtocol), status,
                    body, list: old),
                change("\(status) with \(name), and the list has it no more", .delete, .applied, status, body),
            ]
        } + [
            change("404, and the list has the record", .delete, .waits(.notFound), 404, "", list: old),
            change("410, and the list has the record", .delete, .waits(.notFound), 410, "", list: old),
            change(
                "404, and the list has a newer record", .delete, .parks(.conflict), 404, "",
                list: HostileRows.page([HostileRows.row("a")])),
            change("200 with the deleted record", .delete, .applied, 200, HostileRows.row("a", #""deleted":true"#)),
            change("200 with another record", .delete, .applied, 200, HostileRows.row("b")),
            change("404, and the table answers", .delete, .applied, 404, ""),
            HostileCase(
                .changes, "404, and the table does not answer", .delete, .waits(.notFound),
                answer: always([.answer(404)])),
            change(
                "404, and the table is a web page", .delete, .waits(.brokenProtocol), 404, "",
                list: "<html>Log in</html>"),
            change("409 with the deleted record", .delete, .applied, 409, HostileRows.row("a", #""deleted":true"#)),
        ]
    }
}
