import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Placed filters")
struct PlacedFilterTests {
    private let trace = Recorder<String>()
    private struct Odd: Error {}
    /// Two types of filters, by whose names those without a place stand.
    private struct Zulu: Filter {
        let trace: Recorder<String>
        func handle(_ request: Request, next: Next) async throws -> Response {
            trace.add("Zulu")
            return try await next(request)
        }
    }
    private struct Alpha: Filter {
        let trace: Recorder<String>
        func handle(_ request: Request, next: Next) async throws -> Response {
            trace.add("Alpha")
            return try await next(request)
        }
    }

    private func link(
        _ name: String, _ band: FilterBand = .default, before: [String] = [], after: [String] = [], priority: Int = 0,
        match: Match = .all
    ) -> PlacedFilter {
        PlacedFilter(
            Tap { [trace] request, next in
                trace.add(name)
                return try await next(request)
            },
            placement: Placement(name, band: band, before: before, after: after, priority: priority), match: match)
    }

    private func request(_ table: String? = "todo", _ method: HTTPRequest.Method = .get) -> Request {
        Request(
            HTTPRequest(method: method, scheme: "https", authority: "example.net", path: "/app"),
            context: RequestContext(action: .read, table: table))
    }

    private func passed(_ filters: [any Filter], _ request: Request) async throws -> [String] {
        let before = trace.all.count
        let transport = ScriptedTransport(otherwise: .json(200, ""))
        _ = try await client(transport, filters: filters).send(request)
        return Array(trace.all.dropFirst(before))
    }

    @Test("placed filters stand where they are placed, those without a place in the given order")
    func order() async throws {
        let filters: [any Filter] = [
            link("observe", .observe), Zulu(trace: trace), link("auth", .auth), link("Middle"),
            Alpha(trace: trace), link("high", priority: 1),
        ]
        let expected = ["auth", "high", "Middle", "Zulu", "Alpha", "observe"]
        #expect(try await passed(filters, request()) == expected)
        let mixed = [filters[1], filters[5], filters[4], filters[3], filters[2], filters[0]]
        #expect(try await passed(mixed, request()) == expected)
        let order = try client(ScriptedTransport(), filters: filters).filterOrder()
        #expect(order.map(\.name) == expected && order[4].why == "band default; after Zulu")
    }

    @Test("filters without a place alone keep the order in which they are given, two of one type too")
    func plain() async throws {
        let filters: [any Filter] = [Zulu(trace: trace), Alpha(trace: trace), Zulu(trace: trace)]
        #expect(try await passed(filters, request()) == ["Zulu", "Alpha", "Zulu"])
        #expect(
            try client(ScriptedTransport(), filters: filters).filterOrder().map(\.name) == ["Zulu", "Alpha", "Zulu#2"])
    }

    @Test("a placed filter may name one without a place by its type")
    func byType() async throws {
        let filters: [any Filter] = [
            Zulu(trace: trace), Alpha(trace: trace), link("between", before: ["Alpha"], after: ["Zulu"]),
        ]
        #expect(try await passed(filters, request()) == ["Zulu", "between", "Alpha"])
    }

    @Test("a filter is entered where its match holds, and the others of the chain all the same")
    func matching() async throws {
        let filters: [any Filter] = [
            link("a", match: try Match(tables: ["todo*"])), link("b", match: try Match(methods: ["POST"])),
            link("c", match: try Match(tables: ["notes"])), link("d"),
        ]
        #expect(try await passed(filters, request("todos")) == ["a", "d"])
        #expect(try await passed(filters, request("notes", .post)) == ["b", "c", "d"])
        #expect(try await passed(filters, request(nil)) == ["d"])
    }

    @Test("what a filter makes of a request decides for those after it")
    func rewritten() async throws {
        let rename = PlacedFilter(
            Tap { request, next in
                var request = request
                request.context.table = "notes"
                return try await next(request)
            }, placement: Placement("a"))
        let filters: [any Filter] = [
            rename, link("notes", match: try Match(tables: ["notes"])),
            link("todo", match: try Match(tables: ["todo"])),
        ]
        #expect(try await passed(filters, request("todo")) == ["notes"])
    }

    @Test("a filter in a run may answer itself, and may call next twice")
    func calls() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, ""))
        let twice = PlacedFilter(
            Tap { request, next in
                _ = try await next(request)
                return try await next(request)
            }, placement: Placement("a"))
        let answer = PlacedFilter(Tap { _, _ in .json(207, "mine") }, placement: Placement("b"))
        let sent = try await client(transport, filters: [twice, link("c")]).send(request())
        #expect(sent.status == 200 && transport.requests.count == 2 && trace.all == ["c", "c"])
        let answered = try await client(transport, filters: [answer, link("c")]).send(request())
        #expect(answered.status == 207 && transport.requests.count == 2)
    }

    @Test("an error of a placed filter names its place")
    func errors() async throws {
        let odd = PlacedFilter(Tap { _, _ in throw Odd() }, placement: Placement("com.example.odd"))
        let error = await #expect(throws: SluiceError.self) {
            try await client(ScriptedTransport(), filters: [link("a"), odd]).send(request())
        }
        #expect(error?.code == .filter && error?.message == "filter com.example.odd failed" && error?.cause is Odd)
    }

    @Test("where the places contradict each other, nothing is sent and the reason is told")
    func disorder() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, ""))
        let client = client(transport, filters: [link("a", before: ["b"]), link("b", before: ["a"])])
        let error = await #expect(throws: SluiceError.self) { try await client.send(request()) }
        #expect(error?.message.contains("circle: a → b → a") == true && transport.requests.isEmpty)
        #expect(throws: SluiceError.self) { try client.filterOrder() }
    }

    @Test("a filter that waits for another is in order once the other is there")
    func later() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, ""))
        let first = client(transport, filters: [link("a", after: ["z"])])
        await #expect(throws: SluiceError.self) { try await first.send(request()) }
        _ = try await first.with(link("z")).send(request())
        #expect(trace.all == ["z", "a"])
    }

    @Test("a match that asks for what no request has is refused")
    func unknowable() throws {
        for match in [try Match(status: ["412"]), try Match(fieldsChanged: ["a"]), try Match(deployment: ["a": ["b"]])]
        {
            let client = client(ScriptedTransport(), filters: [link("a", match: match)])
            #expect(throws: SluiceError.self) { try client.filterOrder() }
        }
        let bound = try Match(deployment: ["a": ["b"]]).bound(to: [:])
        #expect(try client(ScriptedTransport(), filters: [link("a", match: bound)]).filterOrder().count == 1)
    }

    @Test("what is remembered of requests is what the matches ask, and a sample is never remembered")
    func remembered() async throws {
        let half = try Match(tables: ["todo"], sample: 0.5)
        let filters: [any Filter] = [
            link("half", match: half), link("post", match: try Match(methods: ["POST"])),
            link("host", match: try Match(hosts: ["example.net"])),
            link("rest", match: try Match.all.excluding(tables: ["todo"])),
        ]
        let client = client(ScriptedTransport(otherwise: .json(200, "")), filters: filters)
        for round in 0..<3 {
            for index in 0..<40 {
                var request = request(index % 2 == 0 ? "todo" : "notes", index % 3 == 0 ? .post : .get)
                request.context.recordID = "r\(index)"
                request.head.authority = index % 5 == 0 ? "example.net:443" : "example.com"
                let before = trace.all.count
                _ = try await client.send(request)
                let subject = MatchSubject(request)
                let expected = filters.compactMap { $0 as? PlacedFilter }.filter { $0.isFor(subject) }
                    .map(\.placement.name).sorted()
                #expect(trace.all.dropFirst(before).sorted() == expected, "round \(round), \(index)")
            }
        }
    }

    @Test("ten thousand tables are more than is remembered, and each is decided all the same")
    func manyTables() async throws {
        let client = client(
            ScriptedTransport(otherwise: .json(200, "")), filters: [link("a", match: try Match(tables: ["*7"]))])
        for index in 0..<10_000 { _ = try await client.send(request("t\(index)")) }
        #expect(trace.all.count == 1_000)
    }

    @Test("a placed filter is one outside of a client too")
    func alone() async throws {
        let filter = link("a", match: try Match(tables: ["todo"]))
        _ = try await filter.handle(request("notes")) { _ in .json(200, "") }
        _ = try await filter.handle(request("todo")) { _ in .json(200, "") }
        #expect(trace.all == ["a"])
    }
}
