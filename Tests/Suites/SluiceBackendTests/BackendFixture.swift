import Foundation
import HTTPTypes
import RepositoryFiles
import SluiceCore
import Synchronization

@testable import SluiceBackend
@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

/// A backend whose clock stands still, and short ways to ask it.
struct BackendFixture {
    static let movies = Repository.fixture("movies.json")
    static let now = Timestamp("2024-05-06T07:08:09.1234567Z") ?? Timestamp(ticks: 0)

    let backend: Backend
    /// Others on the same database, which answer in turn with it.
    private let others: [Backend]
    private let turns = Turns()

    /// Counts requests.
    private final class Turns: Sendable {
        private let count = Mutex(0)
        func next(of length: Int) -> Int {
            count.withLock { count in
                count += 1
                return count % length
            }
        }
    }

    init(_ tables: BackendConfiguration.Table..., database: BackendConfiguration.Database? = nil) async throws {
        try await self.init(tables: tables, database: database)
    }

    init(
        tables: [BackendConfiguration.Table], database: BackendConfiguration.Database? = nil,
        authentication: BackendConfiguration.Authentication? = nil, hooks: [String: any TableHooks] = [:],
        odata: BackendConfiguration.OData? = .init(), operations: [ODataOperation] = [],
        now: @escaping @Sendable () -> Timestamp = { Self.now },
        random: @escaping @Sendable () -> Double = { 0 }, backends: Int = TestDatabase.backends
    ) async throws {
        let ids = Mutex(0)
        var configuration = try BackendConfiguration(
            database: database ?? TestDatabase.make(), tables: tables, authentication: authentication)
        configuration.odata = odata
        let environment = SyncEnvironment(
            now: now,
            makeID: {
                ids.withLock {
                    $0 += 1
                    return "made-\($0)"
                }
            }, random: random)
        func open(_ environment: SyncEnvironment) async throws -> Backend {
            try await Backend(configuration, hooks: hooks, operations: operations, environment: environment)
        }
        var others: [Backend] = []
        if case .postgres = configuration.database {
            // Each begins a run of the history. Versions are of the last one, whose number tests know.
            var environment = environment
            environment.random = { 0.5 }
            for _ in 1..<backends { others.append(try await open(environment)) }
        }
        self.others = others
        backend = try await open(environment)
    }

    /// A backend with that configuration.
    init(configuration: BackendConfiguration) async throws {
        others = []
        backend = try await Backend(
            configuration, environment: SyncEnvironment(now: { Self.now }, makeID: { "\(UUID())" }))
    }

    /// A backend with the movies.
    static func movies(pageSize: Int = 100, maxTop: Int = 128_000) async throws -> BackendFixture {
        try await BackendFixture(
            .init("movies", seed: .file(path: movies), pageSize: pageSize, maxTop: maxTop))
    }

    /// A backend with one empty table, `t`.
    static func empty(softDelete: Bool = true) async throws -> BackendFixture {
        try await BackendFixture(.init("t", softDelete: softDelete))
    }

    /// Sends a request; `path` is encoded where it has to be, and `body` is text.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", headers: [(String, String)] = [],
        json: Bool = false, version: String? = "2.0.0"
    ) async -> Answer {
        let allowed = CharacterSet(charactersIn: "%").union(.urlQueryAllowed).subtracting(
            CharacterSet(charactersIn: "+"))
        let path = path.addingPercentEncoding(withAllowedCharacters: allowed)
        var head = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:8080", path: path)
        if json, !body.isEmpty { head.headerFields[.contentType] = "application/json" }
        if let version { head.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = version }
        for (name, value) in headers { head.headerFields.append(HTTPField(name: HTTPField.Name(name)!, value: value)) }
        let all = [backend] + others
        return Answer(
            await all[turns.next(of: all.count)].respond(
                to: SyncRequest(head, body: MessageBody(bytes: Array(body.utf8)))))
    }
}

/// An answer, with what tests look at.
struct Answer {
    let response: SyncResponse
    init(_ response: SyncResponse) { self.response = response }

    var status: Int { response.status }
    var json: JSON { (try? response.body.json) ?? JSON.null }
    var etag: String? { header("ETag") }
    var version: String { json["version"]?.string ?? "" }
    var error: String { json["error"]?.string ?? "" }
    /// The ids of a list.
    var ids: [String] { (json["results"] ?? json).elements?.compactMap { $0["id"]?.string } ?? [] }
    func header(_ name: String) -> String? { response.head.headerFields[HTTPField.Name(name)!] }
    /// Path and query of the link to the next page.
    var next: String? {
        guard let link = header("Link"), link.hasPrefix("http://127.0.0.1:8080/"), link.hasSuffix("; rel=next") else {
            return nil
        }
        return String(link.dropFirst("http://127.0.0.1:8080".count).dropLast("; rel=next".count))
    }
}
