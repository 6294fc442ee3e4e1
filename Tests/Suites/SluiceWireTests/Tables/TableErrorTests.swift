import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Errors of online tables")
struct TableErrorTests {
    @Test("a refused change carries the server's record, as JSON and as a value", arguments: Dialect.all, [409, 412])
    func refused(dialect: Dialect, status: Int) async throws {
        let theirs = row(dialect, "a", "v2", ["name": "Theirs"])
        let transport = ScriptedTransport(otherwise: .json(status, theirs, ["ETag": #""v2""#]))
        let client = client(transport, dialect: dialect)
        let error = await #expect(throws: SluiceError.self) {
            try await client.table(Person.self).update(Person(id: "a", name: "Mine", version: "v1"))
        }
        #expect(error?.code == (status == 409 ? .conflict : .preconditionFailed) && error?.status == status)
        #expect(error?.serverRecord == (try JSON(parsing: theirs)))
        #expect(try error?.server(as: Person.self) == Person(id: "a", name: "Theirs", version: "v2"))
        let exchange = try #require(error?.exchange)
        #expect(exchange.response.status == status && exchange.request.context.recordID == "a")
        #expect(try exchange.request.body.json["name"] == "Mine")
        let untyped = await #expect(throws: SluiceError.self) { try await client.table("people").delete(id: "a") }
        #expect(untyped?.serverRecord?["name"] == "Theirs" && untyped?.exchange?.request.head.method == .delete)
    }

    @Test("an insert of an id that is there already is a conflict, with a record or without", arguments: Dialect.all)
    func duplicate(dialect: Dialect) async throws {
        let transport = ScriptedTransport([
            .json(409, row(dialect, "a", "v1")), .json(409, #"{"message":"exists"}"#), .json(409, ""),
        ])
        let table = client(transport, dialect: dialect).table("t")
        var errors: [SluiceError?] = []
        for _ in 0..<3 {
            errors.append(await #expect(throws: SluiceError.self) { try await table.insert(["id": "a"]) })
        }
        #expect(errors.allSatisfy { $0?.code == .conflict && $0?.recordID == "a" })
        #expect(errors.map { $0?.serverRecord != nil } == [true, false, false] && errors[1]?.message == "exists")
        #expect(try errors[1]?.server(as: Person.self) == nil)
    }

    @Test(
        "a 412 whose body is no record stays an error", arguments: ["", "null", "[]", "<html>", #"{"a":1}"#, "\"no\""])
    func noRecord(body: String) async {
        let transport = ScriptedTransport(otherwise: .json(412, body))
        let error = await #expect(throws: SluiceError.self) {
            try await client(transport).table("t").update(["id": "a", "version": "v"])
        }
        #expect(error?.code == .preconditionFailed && error?.serverRecord == nil && error?.exchange != nil)
    }

    @Test("a server's record that does not fit the type says so")
    func misfit() async throws {
        let transport = ScriptedTransport(otherwise: .json(412, #"{"id":"a","name":7,"version":"v"}"#))
        let error = await #expect(throws: SluiceError.self) { try await client(transport).table("t").delete(id: "a") }
        #expect(#expect(throws: SluiceError.self) { try error?.server(as: Person.self) }?.code == .invalidRecord)
    }

    @Test(
        "a delete is answered by 200 with the record, by 204, or by an error",
        arguments: [
            (200, #"{"id":"a"}"#, nil), (200, "", nil), (204, "", nil), (404, "", .notFound), (410, "", .notFound),
            (200, "<html>", .brokenProtocol), (405, "", .rejected), (500, "", .serverFailure),
        ] as [(Int, String, SluiceError.Code?)])
    func delete(status: Int, body: String, code: SluiceError.Code?) async {
        let table = client(ScriptedTransport(otherwise: .json(status, body))).table("t")
        do {
            try await table.delete(id: "a")
            #expect(code == nil)
        } catch {
            #expect((error as? SluiceError)?.code == code)
        }
    }

    @Test("no error shows a credential, however it is printed")
    func secrets() async throws {
        let transport = ScriptedTransport(otherwise: .json(412, #"{"id":"a"}"#, ["Set-Cookie": "session=hush"]))
        var options = quickOptions()
        options.tokenProvider = FixedToken()
        let call = client(transport, options: options).api("x")
        let error = try #require(
            await #expect(throws: SluiceError.self) {
                try await call.call(["a": "body"], headers: [.authorization: "Bearer hush", .cookie: "hush"])
            })
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(error)", String(reflecting: error), dumped] {
            #expect(!text.contains("hush") && !text.contains("fixed") && !text.contains("body"))
        }
        let exchange = try #require(error.exchange)
        #expect(exchange.request.head.headerFields[.authorization] == nil)
        #expect(exchange.response.head.headerFields[.setCookie] == nil && exchange.response.status == 412)
        #expect("\(exchange)" == "POST, answered 412")
    }

    @Test("without a network there is an error and no exchange")
    func network() async {
        let error = await #expect(throws: SluiceError.self) {
            try await client(ScriptedTransport()).table("t").update(["id": "a"])
        }
        #expect(error?.code == .network && error?.exchange == nil && error?.table == "t" && error?.recordID == "a")
    }
}
