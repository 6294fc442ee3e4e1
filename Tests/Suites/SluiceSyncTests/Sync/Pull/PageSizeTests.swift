import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Pages that cannot come: smaller ones are asked for")
struct PageSizeTests {
    /// A server of which some answers do not arrive.
    private struct Judged: Transport {
        let server: ModelServer
        let judge: @Sendable (TableQuery, SyncResponse) throws -> SyncResponse

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            let response = try await server.send(request)
            let call = ModelCall(request)
            guard request.head.method == .get, var query = try? call.query() else { return response }
            query.select = (call.parameters["$select"] ?? "").split(separator: ",").map { PropertyName(String($0)) }
            return try judge(query, response)
        }
    }

    /// A device whose server has forty rows.
    private func device(
        _ kind: StoreKind = .memory, tokens: Bool = false,
        _ judge: @escaping @Sendable (TableQuery, SyncResponse) throws -> SyncResponse
    ) async throws -> Device {
        let server = (tokens ? ServerKind.tokens : .sorted).make(pageSize: 1000)
        server.seed("todos", (0..<40).map { ["id": JSON("r\(10 + $0)"), "n": JSON($0)] })
        return try await Device(
            kind, server: server, pageSize: 1000, transport: Judged(server: server, judge: judge))
    }

    private func tops(_ device: Device) -> [Int] {
        device.server.requests.compactMap { QueryString(ofPath: $0.head.path ?? "")["$top"].flatMap { Int($0) } }
    }

    private static let tooLarge = SluiceError(.tooLarge, "the answer is larger than 10 bytes")

    @Test(
        "a page that is too large, or more than the server gives at once, comes in parts", arguments: [nil, 400, 422])
    func parts(_ status: Int?) async throws {
        for (name, tokens) in [("all", true), ("all", false), (nil, false)] as [(String?, Bool)] {
            let device = try await device(tokens: tokens) { query, response in
                guard (query.top ?? 0) > 12 else { return response }
                guard let status else { throw Self.tooLarge }
                return .model(status, ["error": "$top is above 12"])
            }
            try await device.todos.pull(named: name)
            #expect(try await device.todos.count() == 40)
            device.server.clearLog()
            try await device.todos.pull(named: name)
            #expect(tops(device).first.map { $0 <= 12 } ?? false, "what was learnt is kept: \(tops(device))")
        }
    }

    @Test("a number that a request for a token may have left out is not taken as accepted")
    func unsaidNumber() {
        var size = PageSize(wanted: 1000)
        size.take(40, of: 1000, isAccepted: false)
        let refused = SluiceError(.rejected, "$top is above 100", status: 400)
        let isSmaller = size.shrinks(after: refused, asked: 1000)
        #expect(isSmaller && size.rows == 100)
    }

    @Test("a page that takes too long is smaller in the next pull, and grows again")
    func slow() async throws {
        let device = try await device(.sqlite) { query, response in
            if (query.top ?? 0) > 300 { throw SluiceError(.timeout, "too long") }
            return response
        }
        var pulls = 0
        while try await device.todos.count() == 0, pulls < 5 {
            _ = try? await device.todos.pull(named: "all")
            pulls += 1
        }
        #expect(pulls == 3 && tops(device).prefix(3) == [1000, 500, 250])
        var size = PageSize(wanted: 1000, rows: 250, failed: 500)
        for _ in 0..<8 { size.take(250, of: 250) }
        #expect(size.rows == 500, "eight full pages, and the number that failed is tried")
        size.take(500, of: 500)
        #expect(size.rows == 1000 && size.failed == nil)
    }

    @Test("a size that failed begins no pull, however well smaller pages came", arguments: [500, 1000])
    func grown(_ failed: Int) async throws {
        let store = MemoryStore()
        try await store.define([PageSize.schema])
        var size = PageSize(wanted: 1000, rows: failed / 2, failed: failed)
        for _ in 0..<8 { size.take(failed / 2, of: failed / 2) }
        let grown = size
        #expect(grown.rows == failed)
        try await store.write { try grown.save("todos", of: "https://example.net", in: $0) }
        let next = try await store.read { try PageSize(wanted: 1000, of: "todos", at: "https://example.net", in: $0) }
        #expect(next.rows == failed / 2 && next.failed == failed)
    }

    @Test("a query that the server refuses whatever its size is refused, and nothing is learnt of it")
    func refused() async throws {
        let device = try await device { _, _ in .model(400, ["error": "no such property"]) }
        let error = await #expect(throws: SluiceError.self) { try await device.todos.pull() }
        #expect(error?.code == .rejected && tops(device) == [1000, 100, 10, 1])
        device.server.clearLog()
        _ = try? await device.todos.pull()
        #expect(tops(device).first == 1000)
    }

    @Test("a row that no page can hold is set aside with its reason, and those after it come")
    func giant() async throws {
        for (name, tokens) in [("all", true), ("all", false), (nil, false)] as [(String?, Bool)] {
            let device = try await device(tokens: tokens) { query, response in
                let isWhole = query.select.isEmpty
                // Digests have its id too.
                guard isWhole, String(decoding: response.body.bytes, as: UTF8.self).contains("\"n\":15") else {
                    return response
                }
                throw Self.tooLarge
            }
            let result = try await device.todos.pull(named: name)
            #expect(result.quarantined == 1, "\(result)")
            #expect(try await device.todos.count() == 39)
            let aside = try await device.context.quarantine(table: "todos")
            #expect(aside.first?.recordID == "r25" && aside.first?.reason.contains("larger than") == true)
            if let name { #expect(try await device.todos.reconcile(named: name).quarantined == 1) }
        }
    }
}
