import SluiceCore
import SluiceTestSupport
import Testing

@Suite("A page of rows")
struct RowPageTests {
    private func page(
        _ text: String, columns: SystemColumns = .init(), shape: RowPage.Shape = .results
    ) throws(SluiceError) -> RowPage {
        try RowPage(bytes: Array(text.utf8), columns: columns, shape: shape, table: "movies")
    }

    @Test("a bare array gives each row's system columns and its record")
    func bareArray() throws {
        let page = try page(
            #"""
            [ {"id": "a", "title": "One", "version": "AAE=", "updatedAt": "2020-01-01T00:00:00.000Z", "deleted": false},
              {"deleted": true, "list": [{"id": "inner"}], "inner": {"id": "x", "version": "y"}, "id": "b"} ]
            """#)
        #expect(page.rows.map(\.id) == ["a", "b"])
        #expect(page.rows.map(\.version) == ["AAE=", nil])
        #expect(page.rows.map(\.updatedAt) == ["2020-01-01T00:00:00.000Z", nil])
        #expect(page.rows.map(\.isDeleted) == [false, true])
        #expect(page.count == nil)
        #expect(page.nextLink == nil)
        #expect(page.record(at: 0)["title"] == "One")
        #expect(page.record(at: 1)["inner"] == ["id": "x", "version": "y"])
    }

    @Test(
        "an empty page is a page", arguments: ["[]", " [ ] ", #"{"results": []}"#, #"{"count": null, "results": []}"#])
    func empty(_ text: String) throws {
        let page = try page(text)
        #expect(page.rows.isEmpty)
        #expect(page.count == nil)
    }

    @Test("an object holds its rows under a name, with the count and the next page's address")
    func object() throws {
        let azure = try page(#"{"count": 248, "results": [{"id": "a"}]}"#)
        #expect(azure.rows.map(\.id) == ["a"])
        #expect(azure.count == 248)
        let datasync = try page(
            #"{"items": [{"id": "a"}], "count": null, "nextLink": "https:\/\/h\/t?$skip=1"}"#, shape: .items)
        #expect(datasync.count == nil)
        #expect(datasync.nextLink == "https://h/t?$skip=1")
        #expect(try page(#"{"items": [], "count": -1, "nextLink": null}"#, shape: .items).nextLink == nil)
        #expect(try page(#"{"items": [], "count": -1, "nextLink": ""}"#, shape: .items).count == nil)
        let odata = RowPage.Shape(rows: ["value"], count: "@odata.count", nextLink: "@odata.nextLink")
        let answer = try page(#"{"@odata.count": 3, "value": [{"id": "a"}], "@odata.nextLink": "?x"}"#, shape: odata)
        #expect(answer.count == 3)
        #expect(answer.nextLink == "?x")
        let either = RowPage.Shape(rows: ["items", "results"])
        #expect(try page(#"{"results": [{"id": "r"}]}"#, shape: either).rows.map(\.id) == ["r"])
    }

    @Test("the system columns have the names they are said to have")
    func columns() throws {
        let columns = SystemColumns(
            id: "id", version: "__version", updatedAt: "__updatedAt", deleted: "__deleted")
        let page = try page(
            #"[{"id": "a", "version": "no", "__version": "v", "__updatedAt": "t", "__deleted": true}]"#,
            columns: columns)
        #expect(page.rows[0].version == "v")
        #expect(page.rows[0].updatedAt == "t")
        #expect(page.rows[0].isDeleted)
    }

    @Test("escapes in names and values count as what they stand for")
    func escapes() throws {
        let page = try page(#"[{"\u0069d": "\u00e9\n", "ver\u0073ion": "\"", "idx": "no", "dele\u0074ed": true}]"#)
        #expect(page.rows[0].id == "é\n")
        #expect(page.rows[0].version == "\"")
        #expect(page.rows[0].isDeleted)
    }

    @Test("a version or time that is not text is none, and only a form of true deletes")
    func otherTypes() throws {
        let page = try page(
            #"[{"id": "a", "version": 5, "updatedAt": null, "deleted": 2}, {"id": "b", "deleted": "yes"}]"#)
        #expect(page.rows.allSatisfy { $0.version == nil && $0.updatedAt == nil && !$0.isDeleted })
    }

    @Test("two rows may have one id")
    func repeatedID() throws {
        #expect(try page(#"[{"id": "a", "n": 1}, {"id": "a", "n": 2}]"#).rows.count == 2)
    }

    @Test(
        "a row that cannot be identified is an error that names it",
        arguments: [
            (#"[{"id": "a"}, {"title": "x"}]"#, "Row 1", "has no “id”"),
            (#"[{"id": ""}]"#, "Row 0", "without a character"),
            (#"[{"id": "a"}, {"id": "b"}, {"id": 7}]"#, "Row 2", "a number"),
            (#"[{"id": null}]"#, "Row 0", "null"),
            (#"[{"id": ["a"]}]"#, "Row 0", "not text"),
            (#"[{"id": "a"}, 5]"#, "Row 1", "is not an object"),
            (#"[[]]"#, "Row 0", "is not an object"),
        ])
    func badRows(_ text: String, _ place: String, _ reason: String) {
        let error = #expect(throws: SluiceError.self) { try page(text) }
        #expect(error?.code == .brokenProtocol)
        #expect(error?.table == "movies")
        #expect(error?.message.contains(place) == true)
        #expect(error?.message.contains(reason) == true)
    }

    @Test(
        "an answer without rows is an error",
        arguments: [
            "5", "null", "{}", #"{"results": null}"#, #"{"results": {}}"#, #"{"items": []}"#,
            #"{"results": [], "count": "x"}"#, #"{"results": [], "count": 1.5}"#, #"{"results": [], "nextLink": 5}"#,
            #"{"error": "x", "inner": {"results": []}}"#,
        ])
    func noRows(_ text: String) {
        #expect(throws: SluiceError.self) { try page(text) }
    }

    @Test(
        "an answer that is not JSON says where",
        arguments: ["", "<html>", #"[{"id": "a"}"#, #"[{"id": "a", "id": "b"}]"#])
    func notJSON(_ text: String) {
        let error = #expect(throws: SluiceError.self) { try page(text) }
        #expect(error?.code == .brokenProtocol)
        #expect(error?.cause is JSON.ParseError)
    }

    @Test("a page of records or of a changed document is read by the same rules")
    func documents() throws {
        let number = try #require(JSON.Number(text: "18446744073709551616"))
        let page = try RowPage(records: [["id": "a", "big": JSON(number)], ["id": "b", "version": "v"]])
        #expect(page.rows.map(\.id) == ["a", "b"])
        #expect(page.record(at: 0)["big"]?.number == number)
        #expect(throws: SluiceError.self) { try RowPage(records: [["id": 1]]) }
        let document: JSON = ["items": [["id": "a"]], "count": 9]
        #expect(try RowPage(document: document, shape: .items).count == 9)
        let body = MessageBody(bytes: Array(#"[{"id": "z"}]"#.utf8))
        #expect(try RowPage(body: body).rows.map(\.id) == ["z"])
        _ = try body.json
        #expect(try RowPage(body: body).rows.map(\.id) == ["z"])
    }
}
