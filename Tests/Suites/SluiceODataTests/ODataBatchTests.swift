import HTTPTypes
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceOData

@Suite("batches of OData services")
struct ODataBatchTests {
    /// A device with two changed orders in a group.
    private func device(
        _ version: ODataVersion, _ batches: ODataSettings.Batches, _ steps: [ScriptedTransport.Step]
    ) async throws -> (SyncContext, ODataFixture) {
        let settings = ODataSettings(tables: ["Orders": ODataFixture.orders], batches: batches)
        let fixture = try ODataFixture(version, settings, steps)
        let device = try await SyncContext(
            client: fixture.client, store: MemoryStore(), tables: [], options: SyncOptions(batchSize: 10))
        try await device.group { group in
            try group.insert(["id": "1", "Text": "a"], in: "Orders")
            try group.insert(["id": "2", "Text": "b"], in: "Orders")
        }
        return (device, fixture)
    }

    private static func multipart(_ status: Int, _ lines: [String], end: String = "\r\n") -> ScriptedTransport.Step {
        .json(status, lines.joined(separator: end), ["Content-Type": "multipart/mixed; boundary=\"r\""])
    }

    private static let missing = ScriptedTransport.Step.json(404, "")

    @Test("the batch that is sent: one change set in v2, with names and lengths")
    func form() async throws {
        let (device, fixture) = try await device(.v2, .automatic, [.json(503, "")])
        _ = try? await device.push()
        let sent = try #require(fixture.script.requests.first)
        #expect(sent.head.path == "/svc/$batch")
        #expect(fixture.field("Content-Type", of: 0) == "multipart/mixed; boundary=batch_0")
        #expect(fixture.field("Accept", of: 0) == "multipart/mixed")
        let text = String(decoding: sent.body.bytes, as: UTF8.self)
        #expect(
            text.contains("--batch_0\r\nContent-Type: multipart/mixed; boundary=changeset_0\r\n\r\n--changeset_0\r\n"))
        #expect(
            text.contains(
                "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 2\r\n\r\nPOST Orders HTTP/1.1\r\n"
            ))
        #expect(text.contains("\r\nContent-Length: 25\r\n\r\n{\"Number\":\"1\",\"Text\":\"a\"}\r\n--changeset_0"))
        #expect(text.hasSuffix("--changeset_0--\r\n\r\n--batch_0--\r\n"))
    }

    @Test("the answers of a change set may stand in another order, with lines that end with LF alone")
    func order() async throws {
        func row(_ id: String) -> [String] {
            [
                "--c", "Content-Type: application/http", "Content-ID: \(id)", "", "HTTP/1.1 201 Created",
                "Content-Type: application/json", "",
                #"{"d":{"__metadata":{"etag":"W/\"\#(id)\""},"Number":"\#(id)","Text":"\#(id == "1" ? "a" : "b")"}}"#,
            ]
        }
        let head = ["--r", "Content-Type: multipart/mixed; boundary=c", ""]
        let lines = head + row("2") + row("1") + ["--c--", "--r--"]
        let (device, fixture) = try await device(.v2, .automatic, [Self.multipart(202, lines, end: "\n")])
        #expect(try await device.push().isClean)
        #expect(fixture.sent == ["POST /$batch"])
        #expect(try await device.table("Orders").lookup(id: "2")?["__version"] == "W/\"2\"")
    }

    private static let refusal = [
        "Content-Type: application/http", "Content-ID: 2", "", "HTTP/1.1 409 Conflict",
        "Content-Type: application/json", "", #"{"error":{"code":"X","message":{"value":"there already"}}}"#,
    ]
    static let failures: [[String]] = [
        ["--r"] + refusal + ["--r--", ""],
        ["--r", "Content-Type: multipart/mixed; boundary=c", "", "--c"] + refusal + ["--c--", "--r--", ""],
    ]

    @Test("a change set that failed is one answer, in a set of its own or not", arguments: failures)
    func failed(_ lines: [String]) async throws {
        // The row of the first is asked for, too: it may have been the reason.
        let there = ScriptedTransport.Step.row("2", "W/\"9\"", #","Text":"theirs""#, version: .v2)
        let (device, fixture) = try await device(
            .v2, .automatic, [Self.multipart(202, lines), Self.missing, there])
        #expect(try await !device.push().isClean)
        #expect(fixture.sent == ["POST /$batch", "GET /Orders('1')", "GET /Orders('2')"])
        let operations = try await device.queue.operations()
        #expect(operations.map { $0.failure?.serverRecord?["Text"] } == [nil, "theirs"])
        #expect(operations.map { $0.failure?.status } == [nil, 409])
    }

    @Test("a JSON batch says which change of the group failed")
    func failedJSON() async throws {
        let answer = #"""
            {"responses":[{"id":"2","atomicityGroup":"g1","status":409,"headers":{},"body":{"error":{"code":"X","message":"no"}}}]}
            """#
        let (device, fixture) = try await device(
            .v4, .automatic, [.json(200, answer), Self.missing, .row("2", "W/\"9\"", #","Text":"theirs""#)])
        #expect(try await !device.push().isClean)
        let requests = try fixture.body(of: 0)["requests"]?.elements ?? []
        #expect(requests.map { $0["id"] } == ["1", "2"])
        #expect(requests.map { $0["atomicityGroup"] } == ["g1", "g1"])
        #expect(requests.map { $0["url"] } == ["Orders", "Orders"])
        #expect(fixture.field("Prefer", of: 0) == "odata.continue-on-error")
        let operations = try await device.queue.operations()
        #expect(operations.map { $0.failure?.status } == [nil, 409])
    }

    @Test("where no row shows a reason all changes of the group have the service's")
    func unexplained() async throws {
        let lines = [
            "--r", "Content-Type: application/http", "", "HTTP/1.1 400 Bad Request", "Content-Type: application/json",
            "", #"{"error":{"code":"X","message":{"value":"the month is closed"}}}"#, "--r--", "",
        ]
        let (device, _) = try await device(.v2, .automatic, [Self.multipart(202, lines), Self.missing, Self.missing])
        #expect(try await !device.push().isClean)
        let messages = try await device.queue.operations().map { $0.failure?.message ?? "" }
        #expect(messages.count == 2)
        #expect(messages.allSatisfy { $0.contains("the month is closed") })
    }

    @Test(
        "a change set that was not let through is asked about no row, and waits", arguments: [407, 408, 425, 429, 511])
    func passing(_ status: Int) async throws {
        let lines = ["--r", "Content-Type: application/http", "", "HTTP/1.1 \(status) Wait", "", "", "--r--", ""]
        let (device, fixture) = try await device(.v2, .automatic, [Self.multipart(202, lines)])
        #expect(try await !device.push().isClean)
        #expect(fixture.sent == ["POST /$batch"])
        let operations = try await device.queue.operations()
        #expect(operations.map(\.state) == [.pending, .pending])
        #expect(operations.map(\.failedAttempts) == [0, 0])
    }

    @Test("a v4 service that takes no JSON gets multipart, from then on at once", arguments: [400, 415, 501])
    func fallback(_ status: Int) async throws {
        let lines = [
            "--r", "Content-Type: multipart/mixed; boundary=c", "", "--c", "Content-Type: application/http", "",
            "HTTP/1.1 201 Created", "", #"{"@odata.etag":"W/\"1\"","Number":"1","Text":"a"}"#, "--c",
            "Content-Type: application/http", "", "HTTP/1.1 201 Created", "",
            #"{"@odata.etag":"W/\"1\"","Number":"2","Text":"b"}"#, "--c--", "--r--", "",
        ]
        let answer = Self.multipart(200, lines)
        let (device, fixture) = try await device(.v4, .automatic, [.json(status, ""), answer, .json(503, "")])
        #expect(try await device.push().isClean)
        #expect(fixture.field("Accept", of: 0) == "application/json")
        #expect(fixture.field("Accept", of: 1) == "multipart/mixed")
        try await device.group { group in
            try group.insert(["id": "3", "Text": "c"], in: "Orders")
            try group.insert(["id": "4", "Text": "d"], in: "Orders")
        }
        _ = try? await device.push()
        #expect(fixture.sent.count == 3)
        #expect(fixture.field("Accept", of: 2) == "multipart/mixed")
    }

    @Test(
        "an answer that does not fit the batch leaves the outcome unknown",
        arguments: [
            ["--r", "Content-Type: application/http", "", "HTTP/1.1 201 Created", "", "{}", "--r--"],
            ["--r", "Content-Type: application/http", "", "HTTP/1.1 200 OK", "", "--r"],
            ["no boundary"], ["--r", "Content-Type: application/http", "", "20 OK", "--r--"],
        ])
    func broken(_ lines: [String]) async throws {
        let (device, _) = try await device(.v2, .automatic, [Self.multipart(202, lines)])
        #expect((try? await device.push())?.isClean != true)
        let operations = try await device.queue.operations()
        #expect(operations.map(\.isUncertain) == [true, true])
    }

    /// Sends a batch of the tables wire through the adapter, and returns the answers to its parts.
    private func answers(to batch: String, of fixture: ODataFixture) async throws -> [JSON] {
        let transport = try #require(
            fixture.client.dialect.adapter?(try Endpoint(ODataFixture.base), fixture.script))
        let head = HTTPRequest(method: .post, scheme: "http", authority: "odata.example", path: "/svc/tables/$batch")
        let answer = try await transport.send(SyncRequest(head, body: MessageBody(bytes: Array(batch.utf8))))
        return try answer.body.json["responses"]?.elements ?? []
    }

    @Test("a service that wants a condition gets it for the whole set")
    func conditions() async throws {
        let settings = ODataSettings(tables: ["Orders": ODataFixture.orders])
        let wants = #"{"responses":[{"id":"1","status":428,"headers":{}}]}"#
        let done = #"{"responses":[{"id":"1","status":204,"headers":{}},{"id":"2","status":204,"headers":{}}]}"#
        let fixture = try ODataFixture(.v4, settings, [.json(200, wants), .json(200, done)])
        let document = #"""
            {"requests":[{"id":"a","atomicityGroup":"g","method":"DELETE","url":"tables/Orders/1"},
            {"id":"b","atomicityGroup":"g","method":"DELETE","url":"tables/Orders/2","headers":{"If-Match":"W/\"2\""}}]}
            """#
        let responses = try await answers(to: document, of: fixture)
        #expect(responses.map { $0["id"] } == ["a", "b"])
        #expect(responses.map { $0["status"] } == [204, 204])
        let again = try fixture.body(of: 1)["requests"]?.elements ?? []
        #expect(again.map { $0["headers"]?["if-match"] } == ["*", "W/\"2\""])
    }

    @Test("what was answered stays so where the rest, in another form, finds no connection or no answer")
    func answersOfFirstForm() async throws {
        for (cause, second) in [(RequestNotSent("refused"), [204, 503]), (nil, [204])] as [(RequestNotSent?, [JSON])] {
            let first =
                #"{"responses":[{"id":"1","status":204,"headers":{}},{"id":"2","status":428,"headers":{}}]}"#
            let fixture = try ODataFixture(
                .v4, ODataSettings(tables: ["Orders": ODataFixture.orders]),
                [.json(200, first), .failure(SluiceError(.network, "no connection", cause: cause))])
            let document = #"""
                {"requests":[{"id":"a","method":"DELETE","url":"tables/Orders/1","headers":{"If-Match":"W/\"2\""}},
                {"id":"b","method":"DELETE","url":"tables/Orders/2"}]}
                """#
            let responses = try await answers(to: document, of: fixture)
            #expect(responses.map { $0["status"] } == second)
            #expect(fixture.sent.count == 2)
        }
    }

    @Test("a row that cannot be read after an answer does not say that the change was not sent")
    func readAfterAnswer() async throws {
        let fixture = try ODataFixture(
            .v4, nil,
            [.json(409, ""), .failure(SluiceError(.network, "no connection", cause: RequestNotSent("refused")))])
        let error = await #expect(throws: SluiceError.self) {
            try await fixture.orders.insert(["id": "1", "Text": "a"])
        }
        #expect(error?.code == .network && error?.cause == nil)
        #expect(fixture.sent.count == 2)
    }
}
