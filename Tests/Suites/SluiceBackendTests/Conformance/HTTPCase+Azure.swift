import HTTPTypes
import SluiceCore

@testable import SluiceBackend

extension HTTPCase {
    private static func make(
        _ wire: ServerWire, _ line: Int, _ method: HTTPRequest.Method, _ path: String, _ status: Int,
        _ content: Content, _ body: String, _ headers: [(String, String)], _ differs: String?
    ) -> HTTPCase {
        HTTPCase(
            line: line, wire: wire, method: method, path: "/tables/\(path)", headers: headers, body: body,
            status: status, content: content, differs: differs)
    }

    private static func v3(
        _ line: Int, _ method: HTTPRequest.Method, _ path: String, _ status: Int, _ content: Content = .anything,
        body: String = "", headers: [(String, String)] = [], differs: String? = nil
    ) -> HTTPCase { make(.azureV3, line, method, path, status, content, body, headers, differs) }

    private static func v2(
        _ line: Int, _ method: HTTPRequest.Method, _ path: String, _ status: Int, _ content: Content = .anything,
        body: String = "", headers: [(String, String)] = [], differs: String? = nil
    ) -> HTTPCase { make(.azureV2, line, method, path, status, content, body, headers, differs) }

    /// The server of versions 5 and 6.
    static let azureV3: [HTTPCase] = [
        HTTPCase(
            line: 270, wire: .datasync, method: .get, path: "/tables/t?zumo-api-version=4.0.0", status: 400,
            content: .text("API version"),
            differs: "An unknown version is 400, as {\"error\"}, which every generation reads; a request without a "
                + "version is the toolkit's and answered so."),
        v3(271, .patch, "t/a", 200, .record("a"), body: #"{"x":5}"#),
        v3(
            271, .patch, "t/a", 200, .record("a"), body: #"[{"op":"replace","path":"/x","value":5}]"#,
            headers: [("Content-Type", "application/json-patch+json")]),
        v3(272, .patch, "t/a", 400, .text("reserved"), body: #"{"version":"AAAA"}"#),
        v3(272, .patch, "t/a", 400, .text("id"), body: #"{"id":"b"}"#),
        v3(
            273, .patch, "t/gone", 200, .record("gone"), body: #"{"deleted":false}"#,
            headers: [("If-Match", "{gone}")]),
        v3(274, .patch, "t/gone", 410, body: #"{"x":5}"#), v3(275, .put, "t/a", 200, .record("a"), body: #"{"x":5}"#),
        v3(276, .get, "t/gone", 410), v3(277, .delete, "t/a", 204, .empty),
        v3(303, .post, "t", 201, .text(#""id":"made-"#), body: #"{"id":"","x":3}"#),
        v3(304, .post, "t", 201, .record("1"), body: #"{"id":1,"x":3}"#),
        v3(305, .patch, "t", 200, .record("a"), body: #"{"id":"a","x":5}"#),
        v3(306, .patch, "t/a", 200, .record("a"), body: #"{"x":5}"#, headers: [("If-Match", "{version of a}")]),
        v3(307, .get, "lacking?$orderby=id", 200, .text(#"{"id":"a","x":1,"y":null"#)),
    ]

    /// The Node and the .NET Framework server.
    static let azureV2: [HTTPCase] = [
        HTTPCase(
            line: 278, wire: .datasync, method: .get, path: "/tables/t?zumo-api-version=1.0", status: 400,
            content: .text(#"{"error":"An invalid API version"#)),
        v2(279, .get, "t", 200, .text(#"[{"id":"a""#)),
        v2(279, .get, "t?$inlinecount=allpages", 200, .text(#"{"results":[{"id":"a""#)),
        v2(280, .get, "few?$top=1001", 400, .text("You cannot request more than 1000 records")),
        v2(
            281, .get, "t?$filter=none eq 1", 200, .text("[]"),
            differs: "A column that no record has is null. A table that is not configured is 404, so that a wrong "
                + "address does not look like an empty table."),
        v2(282, .get, "t/none", 404, .text(#"{"error":"The item does not exist"}"#)),
        v2(282, .get, "t/gone", 404, .text(#"{"error":"The item does not exist"}"#)),
        v2(283, .post, "t", 201, .record("new"), body: #"{"id":"new"}"#),
        v2(
            284, .post, "t", 409, .record("a"), body: #"{"id":"a","x":9}"#,
            differs: "The body is the server's record: an echo tells a client nothing."),
        v2(285, .post, "t", 400, .text("createdAt"), body: #"{"id":"new","createdAt":"x"}"#),
        v2(285, .patch, "t/a", 400, .text("deleted"), body: #"{"deleted":true}"#),
        v2(286, .patch, "t/a", 400, body: #"{"id":"b"}"#),
        v2(287, .patch, "t/a", 412, .record("a"), body: #"{"x":9}"#, headers: [("If-Match", "\"other\"")]),
        v2(288, .patch, "t/a", 409, .record("a"), body: #"{"x":9,"version":"AAAA"}"#),
        v2(289, .patch, "t/none", 404, body: #"{"x":9}"#), v2(289, .delete, "t/none", 404),
        v2(
            290, .delete, "t/a", 204, .empty,
            differs: "204 without a body, as the .NET server and all later ones answer."),
        v2(291, .post, "t/gone", 201, .record("gone")), v2(292, .get, "closed", 401), v2(293, .get, "off", 405),
        v2(294, .get, "t?$inlinecount=allpages", 200, .text(#""count":1"#)),
        v2(295, .post, "t", 201, .record("new"), body: #"{"id":"new"}"#),
        v2(296, .post, "t", 400, .text("no body")),
        v2(
            297, .post, "t", 409, .record("a"), body: #"{"id":"a"}"#,
            differs: "The body is the server's record, so that the client need not ask for it."),
        v2(298, .patch, "t/a", 412, .record("a"), body: "{}", headers: [("If-Match", "\"other\"")]),
        v2(
            299, .patch, "t/a", 412, .record("a"), body: "{}", headers: [("If-Match", "\"other\"")],
            differs: "Versions are checked inside the writing transaction: no race can be lost."),
        v2(300, .delete, "t/a", 204, .empty), v2(301, .get, "t/none", 404), v2(301, .patch, "t/none", 404, body: "{}"),
        v2(301, .delete, "t/none", 404),
        v2(
            302, .patch, "t/a", 412, .record("a"), body: "{}", headers: [("If-Match", "W/{a}")],
            differs: "Such a tag is no version of the record, which is 412 with the record: a client can go on from "
                + "there."),
        v2(303, .post, "t", 201, .text(#""id":"made-"#), body: #"{"id":"","x":3}"#),
        v2(304, .post, "t", 201, .record("1"), body: #"{"id":1,"x":3}"#),
        v2(305, .patch, "t", 200, .record("a"), body: #"{"id":"a","x":5}"#),
        v2(306, .patch, "t/a", 200, .record("a"), body: #"{"x":5}"#, headers: [("If-Match", "{version of a}")]),
        v2(307, .get, "lacking?$orderby=id", 200, .text(#"{"id":"a","x":1,"y":null"#)),
    ]
}
