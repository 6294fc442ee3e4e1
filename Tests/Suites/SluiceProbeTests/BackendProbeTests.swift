import HTTPTypes
import SluiceBackend
import SluiceCore
import SluiceOData
import SluiceTesting
import Testing

@testable import SluiceProbe

/// The embedded backend on every wire.
@Suite(.timeLimit(.minutes(5))) struct BackendProbeTests {
    struct Door: Sendable, CustomStringConvertible {
        var dialect: Dialect
        var path: String
        var description: String { dialect.name }
    }

    static let doors =
        Dialect.all.map { Door(dialect: $0, path: "") } + [
            Door(dialect: .odataV2, path: "/odata/v2"), Door(dialect: .odataV4, path: "/odata/v4"),
        ]

    private struct Way: Transport {
        let backend: Backend
        let answer: @Sendable (SyncRequest, () async -> SyncResponse) async -> SyncResponse

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            await answer(request) {
                var response = await backend.respond(to: request)
                // As the listener does.
                response.head.headerFields[.date] = HTTPDate.text(SyncEnvironment.system.now())
                return response
            }
        }
    }

    private static func backend(_ columns: [TableSchema.Column]) async throws -> Backend {
        let rows: [JSON] = (10..<40).map { ["id": JSON("row-\($0)"), "title": "x", "year": JSON($0)] }
        return try await Backend(
            BackendConfiguration(tables: [
                .init("movies", seed: .records(rows), pageSize: 20), .init("probes", columns: columns),
            ]))
    }

    private static let columns: [TableSchema.Column] = [
        .init("name", .string), .init("count", .integer), .init("rate", .real), .init("open", .boolean),
        .init("due", .date),
    ]

    private func probe(
        _ door: Door, _ backend: Backend, scratch: String?, table: String = "movies",
        _ answer: @escaping @Sendable (SyncRequest, () async -> SyncResponse) async -> SyncResponse = { await $1() }
    ) async throws -> ProbeReport {
        var options = ProbeOptions(table: table)
        options.scratch = scratch
        options.columns = Self.columns
        return try await ServerProbe(
            endpoint: try Endpoint("http://127.0.0.1:8080\(door.path)"), dialect: door.dialect,
            transport: Way(backend: backend, answer: answer), options: options
        ).run()
    }

    @Test("nothing is wrong with it, read or written", arguments: doors) func faultless(_ door: Door) async throws {
        let backend = try await Self.backend(Self.columns)
        for (table, scratch) in [("movies", nil), ("movies", "probes"), ("probes", "probes")] as [(String, String?)] {
            let report = try await probe(door, backend, scratch: scratch, table: table)
            #expect(
                report.findings.isEmpty, "\(door) \(table): \(report.findings.map { "\($0.code): \($0.seen)" })")
            #expect(report.grade == .changeTokens, "\(report.facts)")
        }
        // Its rows are gone.
        let left = try await probe(door, backend, scratch: nil, table: "probes")
        #expect(!left.facts.contains { $0.subject == "count" && !$0.text.contains(" 0 rows") }, "\(left.facts)")
    }

    @Test("the settings say which batches a service takes") func batches() async throws {
        let backend = try await Self.backend(Self.columns)
        let door = Self.doors[5]
        let none = try await probe(door, backend, scratch: "probes") { request, pass in
            request.head.path?.contains("$batch") == true ? .json(501, "") : await pass()
        }
        #expect(none.settings.contains { $0.contains("batches: off") }, "\(none.settings)")
        let multipart = try await probe(door, backend, scratch: "probes") { request, pass in
            let isJSON = request.head.headerFields[.contentType]?.contains("json") == true
            return isJSON && request.head.path?.contains("$batch") == true ? .json(415, "") : await pass()
        }
        #expect(multipart.settings.contains { $0.contains("batches: multipart") }, "\(multipart.settings)")
        #expect(none.findings.isEmpty && multipart.findings.isEmpty)
    }

    @Test("a service without a description, and one whose links lead elsewhere") func services() async throws {
        let backend = try await Self.backend(Self.columns)
        let door = Self.doors[5]
        let undescribed = try await probe(door, backend, scratch: nil) { request, pass in
            request.head.path?.contains("$metadata") == true ? .json(404, "") : await pass()
        }
        #expect(undescribed.findings.first?.code == .metadataUnread)
        let elsewhere = try await probe(door, backend, scratch: nil) { _, pass in
            var response = await pass()
            let text = String(decoding: response.body.bytes, as: UTF8.self)
            response.body = MessageBody(bytes: Array(text.replacing("127.0.0.1:8080", with: "10.0.0.7").utf8))
            return response
        }
        #expect(elsewhere.findings.map(\.code) == [.linksElsewhere], "\(elsewhere.findings)")
    }
}
