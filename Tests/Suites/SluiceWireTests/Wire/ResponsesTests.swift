import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@Suite("Answers")
struct ResponsesTests {
    let dialect = Dialect.azureV2
    let context = SyncRequest.Context(action: .update, table: "t", recordID: "1")

    @Test(
        "a status has its code",
        arguments: [
            (401, SluiceError.Code.unauthorized), (403, .forbidden), (404, .notFound), (410, .notFound),
            (409, .conflict), (412, .preconditionFailed), (400, .rejected), (405, .rejected), (415, .rejected),
            (422, .rejected), (428, .rejected), (413, .tooLarge), (414, .tooLarge), (431, .tooLarge), (451, .forbidden),
            (408, .serverFailure), (429, .serverFailure), (500, .serverFailure), (503, .serverFailure),
            (599, .serverFailure),
            (301, .brokenProtocol), (302, .brokenProtocol), (304, .brokenProtocol), (308, .brokenProtocol),
            (100, .brokenProtocol), (600, .brokenProtocol), (999, .brokenProtocol),
        ])
    func status(status: Int, code: SluiceError.Code) throws {
        let failure = try #require(dialect.failure(.json(status, ""), for: context))
        #expect(failure.code == code && failure.status == status)
        #expect(failure.table == "t" && failure.recordID == "1" && failure.serverRecord == nil)
    }

    @Test("2xx is no failure, and 304 none to a lookup", arguments: [200, 201, 202, 204])
    func success(status: Int) {
        #expect(dialect.failure(.json(status, ""), for: context) == nil)
        #expect(dialect.failure(.json(304, ""), for: SyncRequest.Context(action: .lookup)) == nil)
    }

    @Test("a redirect is said not to have been followed")
    func redirect() {
        let failure = dialect.failure(.json(302, "", ["Location": "http://evil.net/?secret"]), for: context)
        #expect(failure?.message.contains("redirect") == true && failure?.message.contains("evil") == false)
    }

    @Test(
        "the server's own words are found",
        arguments: [
            (#""plain words""#, "plain words"), (#"{"error":"an error"}"#, "an error"),
            (#"{"description":"words"}"#, "words"), (#"{"message":"words"}"#, "words"),
            (#"{"error":"first","message":"second"}"#, "first"), (#"{"title":"Missing","status":400}"#, "Missing"),
            (#"{"error":{"code":"x","message":"inner"}}"#, "inner"), ("not json", "not json"),
            (#"{"error":"a\u0000b\u001b[31mc\u202Ed\n\ne"}"#, "ab[31mcd e"), ("", "the server answered 400"),
            ("  <!DOCTYPE html><p>x", "the server answered 400"), ("{}", "the server answered 400"),
            ("[]", "the server answered 400"),
            (#"{"type":"x","title":"Bad","detail":"More","status":400}"#, "More"),
            (
                #"{"title":"Not valid.","status":400,"errors":{"Title":["is required","is short"],"Year":["is odd"]}}"#,
                "Not valid. Title: is required, is short; Year: is odd"
            ),
            (#"{"Title":["is required"],"Year":["is odd"]}"#, "Title: is required; Year: is odd"),
            (
                #"[{"memberNames":["Title"],"errorMessage":"is required"},{"errorMessage":"is odd"}]"#,
                "is required; is odd"
            ),
            (#"["one","two"]"#, "one; two"),
            (#"{"message":"The .NET server's","exceptionMessage":"x"}"#, "The .NET server's"),
            (#"{"id":"1","title":"a record's own"}"#, "the server answered 400"),
            (#"{"Title":[5]}"#, #"{"Title":[5]}"#), (#"{"a":{"b":1}}"#, #"{"a":{"b":1}}"#),
        ])
    func message(body: String, expected: String) {
        #expect(dialect.failure(.json(400, body), for: context)?.message == expected)
    }

    @Test(
        "a status that says much to those who know it is explained",
        arguments: [
            (405, "switched off"), (410, "deleted"), (413, "larger"), (414, "longer"), (415, "kind of content"),
            (428, "version"), (429, "later"), (503, "later"),
        ])
    func meaning(status: Int, words: String) throws {
        let message = try #require(dialect.failure(.json(status, ""), for: context)?.message)
        #expect(message.contains("\(status)") && message.contains(words))
        #expect(dialect.failure(.json(status, #"{"error":"own"}"#), for: context)?.message == "own")
    }

    @Test("an integer may be an id on the wires that know such, online alone")
    func integerIDs() throws {
        let context = SyncRequest.Context(action: .lookup, table: "t", recordID: "7")
        let list = SyncRequest.Context(action: .read, table: "t")
        let pull = SyncRequest.Context(source: .pull, action: .read, table: "t")
        for dialect in Dialect.all {
            let record = { try dialect.record(in: .json(200, #"{"id":7}"#), for: context) }
            let rows = { try dialect.page(in: .json(200, #"[{"id":7},{"id":"x"}]"#), for: $0).rows.map(\.id) }
            let failure = dialect.failure(.json(412, #"{"id":7}"#), for: context)
            guard dialect.allowsIntegerIDs else {
                #expect(throws: SluiceError.self) { try record() }
                #expect(throws: SluiceError.self) { try rows(list) }
                #expect(failure?.serverRecord == nil)
                continue
            }
            #expect(try record() == ["id": 7] && failure?.serverRecord == ["id": 7])
            #expect(try rows(list) == [7, "x"])
            #expect(throws: SluiceError.self) { try rows(pull) }
            for body in [#"[{"id":7.5}]"#, #"[{"id":18446744073709551616}]"#, #"[{"id":true}]"#, #"[{}]"#] {
                #expect(throws: SluiceError.self) { try dialect.page(in: .json(200, body), for: list) }
            }
            #expect(throws: SluiceError.self) { try dialect.record(in: .json(200, #"{"id":8}"#), for: context) }
        }
        #expect(Dialect.all.filter(\.allowsIntegerIDs).map(\.name) == ["azure-v1", "azure-v2"])
    }

    @Test(
        "every wire reads every shape of a list", arguments: Dialect.all,
        [
            #"[{"id":"1"}]"#, #"{"results":[{"id":"1"}],"count":9}"#,
            #"{"count":9,"items":[{"id":"1"}],"nextLink":"x"}"#,
            #"{"items":[{"id":"1"}],"count":null,"nextLink":null}"#,
        ])
    func shapes(dialect: Dialect, body: String) throws {
        let page = try dialect.page(in: .json(200, body), for: SyncRequest.Context(action: .read, table: "t"))
        #expect(page.rows.map(\.id) == ["1"])
        #expect(page.count == (body.contains("9") ? 9 : nil) && page.nextLink == (body.contains(#""x""#) ? "x" : nil))
    }

    @Test(
        "rows with an error beside them are not all there is, on every wire", arguments: Dialect.all,
        [
            (#"{"results":[{"id":"1"}],"error":"timed out"}"#, true),
            (#"{"error":{"code":500,"message":"timed out"},"items":[{"id":"1"}],"count":9}"#, true),
            (#"{"items":[],"errors":["timed out"]}"#, true),
            (#"{"items":[{"id":"1","error":"a column"}],"error":null,"errors":[]}"#, false),
            (#"{"results":[{"id":"1"}],"error":"","errors":{}}"#, false), (#"{"results":[],"error":false}"#, false),
        ])
    func besideRows(dialect: Dialect, _ answer: (body: String, isError: Bool)) {
        let result = Result { () throws -> RowPage in
            try dialect.page(in: .json(200, answer.body), for: SyncRequest.Context(action: .read, table: "t"))
        }
        guard answer.isError else {
            #expect(throws: Never.self) { try result.get() }
            return
        }
        let error = #expect(throws: SluiceError.self) { try result.get() }
        #expect(error?.code == .serverFailure && error?.status == 200 && error?.table == "t")
        #expect(answer.body.contains("errors") || error?.message.contains("timed out") == true)
    }

    @Test("a long message is cut")
    func long() {
        let failure = dialect.failure(.json(500, String(repeating: "ä", count: 100_000)), for: context)
        #expect(failure?.message == String(repeating: "ä", count: 500))
    }

    @Test(
        "409 and 412 carry the server's record only where the body is one",
        arguments: [
            (#"{"id":"1","version":"b"}"#, true), (#"{"id":1.5}"#, false), ("[]", false), (#"{"error":"x"}"#, false),
            ("", false), ("<html>", false), (#"{"id":"1""#, false), ("null", false),
        ])
    func serverRecord(body: String, isRecord: Bool) {
        for status in [409, 412] {
            let failure = dialect.failure(.json(status, body), for: context)
            #expect((failure?.serverRecord != nil) == isRecord)
            #expect(failure?.code == (status == 409 ? .conflict : .preconditionFailed))
        }
        #expect(dialect.failure(.json(400, body), for: context)?.serverRecord == nil)
    }

    @Test(
        "a body that is no record breaks the protocol",
        arguments: [
            "", "<html><body>Sign in</body></html>", #"{"id":"1","a":"#, "[]", "{}", #"{"id":5}"#, #"{"id":""}"#,
            "null", #"{"id":"2"}"#, #"{"id":"1"} trailing"#,
        ])
    func brokenRecord(body: String) {
        let error = #expect(throws: SluiceError.self) { try dialect.record(in: .json(200, body), for: context) }
        #expect(error?.code == .brokenProtocol && error?.table == "t" && error?.recordID == "1")
        #expect(error?.status == 200)
    }

    @Test("a record comes back, and nothing where nothing is due")
    func record() throws {
        #expect(
            try dialect.record(in: .json(200, #"{"id":"1","a":1.10}"#), for: context)?["a"]?.number?.description
                == "1.10")
        #expect(try dialect.record(in: .json(204, ""), for: context) == nil)
        #expect(try dialect.record(in: .json(304, ""), for: SyncRequest.Context(action: .lookup)) == nil)
        #expect(try dialect.record(in: .json(200, ""), for: SyncRequest.Context(action: .delete)) == nil)
    }

    @Test("rows are read from the bytes of an answer that nobody parsed")
    func page() throws {
        let response = SyncResponse.json(200, #"{"results":[{"id":"1","version":"a","deleted":true}],"count":9}"#)
        let page = try dialect.page(in: response, for: SyncRequest.Context(action: .read, table: "t"))
        #expect(page.rows.map(\.id) == ["1"] && page.rows[0].isDeleted && page.count == 9)
        #expect(response.body.untouchedBytes != nil)
    }

    @Test("a page that is none breaks the protocol", arguments: ["", "<html>", #"[{"id":"1"}"#, "{}", "[{}]", "7"])
    func brokenPage(body: String) {
        let error = #expect(throws: SluiceError.self) {
            try dialect.page(in: .json(200, body), for: SyncRequest.Context(action: .read, table: "t"))
        }
        #expect(error?.code == .brokenProtocol && error?.table == "t" && error?.status == 200)
    }
}
