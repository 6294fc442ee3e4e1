import HTTPTypes
import SluiceCore

@testable import SluiceBackend

extension HTTPCase {
    private static func ct(
        _ line: Int, _ method: HTTPRequest.Method, _ path: String, _ status: Int, _ content: Content = .anything,
        body: String = "", headers: [(String, String)] = [], differs: String? = nil
    ) -> HTTPCase {
        HTTPCase(
            line: line, wire: .datasync, method: method, path: "/tables/\(path)", headers: headers, body: body,
            status: status, content: content, differs: differs)
    }

    /// The Community Toolkit's server.
    static let datasync: [HTTPCase] = [
        ct(243, .get, "t", 200, .text(#""count":null,"nextLink":null"#)),
        ct(244, .get, "t?$filter=x equals 1", 400, .text("$filter")),
        ct(244, .get, "t?$orderby=x fizz", 400, .text("$orderby")),
        ct(244, .get, "t?$select=x y", 400, .text("$select")),
        ct(244, .get, "t?$skip=NaN", 400, .text("$skip")), ct(244, .get, "t?$top=-1", 400, .text("$top")),
        ct(245, .get, "few?$top=1001", 400), ct(246, .get, "t/a", 200, .record("a")),
        ct(247, .get, "t/none", 404, .empty), ct(247, .get, "seen/hidden", 404, .empty),
        ct(248, .get, "t/gone", 410, .empty), ct(249, .get, "t/gone?__includedeleted=true", 200, .record("gone")),
        ct(250, .get, "t/a", 304, .empty, headers: [("If-None-Match", "{a}")]),
        ct(251, .get, "t/a", 412, .record("a"), headers: [("If-Match", "\"other\"")]),
        ct(252, .post, "t", 201, .record("new"), body: #"{"id":"new","x":3}"#),
        ct(252, .post, "t", 201, .text(#""id":"made-"#), body: #"{"x":3}"#),
        ct(253, .post, "t", 409, .record("a"), body: #"{"id":"a"}"#),
        ct(253, .post, "t", 409, .record("gone"), body: #"{"id":"gone"}"#),
        ct(254, .post, "seen", 400, .empty, body: #"{"id":"hidden"}"#),
        ct(
            255, .post, "t", 400, .text("JSON"), body: "{",
            differs: "The status is the same; the reason is one text with its place, not a list."),
        ct(256, .post, "t", 415, body: #"{"id":"new"}"#, headers: [("Content-Type", "text/plain")]),
        ct(257, .put, "t/a", 200, .record("a"), body: #"{"id":"a","x":4}"#),
        ct(258, .put, "t/a", 400, body: #"{"id":"b"}"#), ct(259, .put, "t/none", 404, .empty, body: "{}"),
        ct(259, .put, "seen/hidden", 404, .empty, body: "{}"), ct(260, .put, "t/gone", 410, .empty, body: "{}"),
        ct(
            261, .put, "t/gone?__includedeleted=true", 200, .record("gone"),
            body: #"{"id":"gone","x":2,"deleted":false}"#),
        ct(262, .put, "t/a", 412, .record("a"), body: "{}", headers: [("If-Match", "\"other\"")]),
        ct(263, .put, "t/a", 412, .record("a"), body: "{}", headers: [("If-None-Match", "{a}")]),
        ct(
            264, .put, "t/a", 412, .record("a"), body: "{}", headers: [("If-Match", "\"other\"")],
            differs: "Versions are checked inside the writing transaction, of which there is one at a time: no race "
                + "can be lost, and a stale version is 412."),
        ct(265, .delete, "t/a", 204, .empty), ct(266, .delete, "t/none", 404, .empty),
        ct(266, .delete, "seen/hidden", 404, .empty), ct(267, .delete, "t/gone", 410, .empty),
        ct(268, .delete, "t/a", 412, .record("a"), headers: [("If-Match", "\"other\"")]),
        ct(269, .get, "closed", 401, .empty),
    ]
}
