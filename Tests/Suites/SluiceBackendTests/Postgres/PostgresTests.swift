import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend
@testable import SluicePostgres

@Suite("PostgreSQL") struct PostgresTests {
    @Test("a URL shows neither user nor password, in no print and in no error")
    func secrets() throws {
        let url = "postgres://ann:s3cret@db.example:5433/app?sslmode=require&readers=3&pooler=transaction"
        let database = try PostgresDatabase(url: url)
        var dumped = ""
        dump(BackendConfiguration.Database.postgres(database), to: &dumped)
        for text in [
            "\(database)", String(reflecting: database), dumped,
            "\(BackendConfiguration(database: .postgres(database)))",
        ] {
            #expect(!text.contains("s3cret") && !text.contains("ann"))
        }
        #expect(database.description == "postgres://db.example:5433/app")
        #expect(database.address.isPooled && database.address.readers == 3)
        for wrong in [
            "postgres://ann:s3cret@[db/app", "postgres://ann:s3cret@db/app?readers=0",
            "postgres://ann:s3cret@db/app?unheard=s3cret",
        ] {
            do {
                _ = try PostgresDatabase(url: wrong)
                Issue.record("it was taken")
            } catch {
                #expect(error.code == .invalidArgument)
                #expect(!"\(error)".contains("s3cret"))
            }
        }
    }

    @Test("the certificate of a server elsewhere is checked unless the URL says otherwise")
    func certificates() throws {
        func mode(_ url: String) throws -> String? {
            try PostgresAddress(url).options.first { $0.name == "sslmode" }?.value
        }
        #expect(try mode("postgres://db.example/app") == "verify-full")
        #expect(try mode("postgres://db.example/app?sslmode=require") == "require")
        #expect(try mode("postgres://127.0.0.1/app") == nil)
    }

    @Test("a replica is another PostgreSQL database, of a PostgreSQL database") func replicas() throws {
        func read(_ database: String, _ replica: String) throws -> BackendConfiguration {
            try BackendConfiguration(
                yaml: "database: '\(database)'\nreplica: '\(replica)'\ntables:\n  t: {}", file: "b.yaml", directory: "/"
            )
        }
        let configuration = try read("postgres://main/x", "postgres://ann:s3cret@other/x")
        #expect(configuration.replica?.description == "postgres://other/x")
        #expect(!"\(configuration)".contains("s3cret"))
        #expect(throws: SluiceError.self) { try read("postgres://main/x", "sqlite::memory:") }
        #expect(throws: SluiceError.self) { try read("sqlite::memory:", "postgres://other/x") }
    }

    @Test("a server that is not there is an error that says where, soon")
    func nobody() async throws {
        let database = try BackendConfiguration.Database("postgres://ann:s3cret@127.0.0.1:1/app")
        do {
            _ = try await Backend(BackendConfiguration(database: database, tables: [.init("t")]))
            Issue.record("it was opened")
        } catch let error as SluiceError {
            #expect(error.code == .storeBusy)
            #expect(error.message.contains("127.0.0.1:1/app") && !"\(error)".contains("s3cret"))
        }
    }

    @Test("a filter is a condition that an index serves, and says where it is not exact")
    func conditions() throws {
        let schema = TableSchema("t", columns: [.init("a", .string), .init("n", .integer)] + SystemColumn.declared)
        func sql(_ filter: String) throws -> (String, Bool) {
            let condition = PostgresFilter(try QueryExpression(odata: filter), schema)
            var text = SQLText()
            condition.append(to: &text)
            return (text.text, condition.isExact)
        }
        #expect(try sql("n gt 3 and a eq 'x'") == (#" WHERE (("n" > $1) AND ("a" = $2))"#, true))
        #expect(try sql("not (n gt 3)") == (#" WHERE (NOT (("n" > $1) IS TRUE))"#, true))
        #expect(try sql("n gt 3 and tolower(a) eq 'x'") == (#" WHERE ("n" > $1)"#, false))
        #expect(try sql("n gt 3 or tolower(a) eq 'x'") == ("", false))
    }
}

@Suite("PostgreSQL, with a server", .enabled(if: !TestDatabase.isSQLite, "needs .ci/postgres"))
struct PostgresServerTests {
    @Test("columns have the types of the database, and an operator's own SQL reads them")
    func types() async throws {
        let database = try TestDatabase.postgres(try #require(TestDatabase.server))
        let fixture = try await BackendFixture(
            .init(
                "t",
                columns: [
                    .init("s", .string), .init("i", .integer), .init("r", .real), .init("b", .boolean),
                    .init("d", .date), .init("j", .json),
                ]), database: database)
        let body =
            #"{"id":"a","s":"x","i":7,"r":1.5,"b":true,"d":"2024-05-06T07:08:09.1234567Z","j":{"k":[1]},"more":"m"}"#
        #expect(await fixture.send(.post, "/tables/t", body).status == 201)
        let row = try await fixture.backend.served.database.read { connection in
            try connection.run(
                "SELECT i + 1, r * 2, b, date_part('year', d)::bigint, j -> 'k' ->> 0, _extra ->> 'more', "
                    + "pg_typeof(d)::text FROM t")
        }
        #expect(
            row == [
                [
                    .integer(8), .real(3), .integer(1), .integer(2024), .text("1"), .text("m"),
                    .text("timestamp with time zone"),
                ]
            ])
        // The seventh digit, which the database has no place for, is kept all the same.
        #expect(await fixture.send(.get, "/tables/t/a").json["d"] == "2024-05-06T07:08:09.1234567Z")
        try await fixture.backend.close()
    }

    @Test("a newer schema is refused, and a table that somebody else made is left as it is")
    func schemas() async throws {
        let database = try TestDatabase.postgres(try #require(TestDatabase.server))
        let first = try await BackendFixture(.init("t"), database: database)
        try await first.backend.served.database.write { connection in
            try connection.run("UPDATE sluice_schema SET version = 99")
            try connection.run("CREATE TABLE other (id text)")
        }
        try await first.backend.close()
        do {
            _ = try await BackendFixture(.init("t"), database: database)
            Issue.record("it was opened")
        } catch let error as SluiceError {
            #expect(error.code == .storeSchema && error.message.contains("99"))
        }
        guard case .postgres(let postgres) = database else { return }
        // The first version had no secret.
        try PostgresConnection(postgres.address).execute(
            "UPDATE sluice_schema SET version = 1; DROP TABLE sluice_secret")
        let again = try await BackendFixture(.init("t"), database: database)
        #expect(try await again.backend.served.database.secret()?.count == 64)
        try await again.backend.close()
        await #expect(throws: SluiceError.self) { try await BackendFixture(.init("other"), database: database) }
    }

    @Test("connections that the server ends are made anew, and nothing that was answered is lost")
    func cutConnections() async throws {
        let database = try TestDatabase.postgres(
            try #require(TestDatabase.server), parameters: "readers=2&application_name=cut")
        let fixture = try await BackendFixture(.init("t", pageSize: 1000), database: database)
        guard case .postgres(let postgres) = database else { return }
        let killer = try PostgresConnection(postgres.address)
        let cutting = Task {
            for _ in 0..<20 {
                try killer.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                        + "AND application_name = 'cut' AND usename = current_user")
                try await Task.sleep(for: .milliseconds(30))
            }
        }
        var stored: Set<String> = []
        for index in 0..<200 {
            let answer = await fixture.send(.post, "/tables/t", #"{"id":"r\#(index)"}"#)
            if answer.status == 201 { stored.insert("r\(index)") } else { #expect(answer.status == 503) }
            // A group too: none of its parts is at fault.
            let parts = (0..<3).map { part in
                #"{"id":"\#(part)","atomicityGroup":"g","method":"POST","url":"tables/t","#
                    + #""body":{"id":"g\#(index)-\#(part)"}}"#
            }
            let group = await fixture.send(
                .post, "/tables/$batch", #"{"requests":[\#(parts.joined(separator: ","))]}"#, json: true)
            let statuses = Set(group.json["responses"]?.elements?.compactMap { $0["status"]?.int } ?? [])
            #expect(
                statuses == [201] || (statuses.contains(503) && statuses.isSubset(of: [424, 503])), "\(group.json)")
            if statuses == [201] { stored.formUnion((0..<3).map { "g\(index)-\($0)" }) }
        }
        try await cutting.value
        #expect(stored.count > 100)
        let all = await fixture.send(.get, "/tables/t?$top=1000")
        #expect(stored.isSubset(of: Set(all.ids)))
        try await fixture.backend.close()
    }

    @Test("a write that another's lock keeps waiting too long is 503, and the next one goes on")
    func locks() async throws {
        let database = try TestDatabase.postgres(
            try #require(TestDatabase.server), parameters: "readers=2&statement_timeout=1")
        let fixture = try await BackendFixture(.init("t"), database: database)
        guard case .postgres(let postgres) = database else { return }
        let other = try PostgresConnection(postgres.address)
        try other.execute("BEGIN; SELECT value FROM sluice_counter FOR UPDATE")
        let answer = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#)
        #expect(answer.status == 503 && answer.header("Retry-After") != nil, "\(answer.status) \(answer.error)")
        try other.execute("ROLLBACK")
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#).status == 201)
        try await fixture.backend.close()
    }

    @Test("a commit wakes the streams of another process")
    func notifications() async throws {
        let database = try TestDatabase.postgres(try #require(TestDatabase.server))
        let first = try await BackendFixture(.init("t"), database: database)
        let second = try await BackendFixture(.init("t"), database: database)
        let seen = second.backend.served.signals.generation(of: "t")
        let waiting = Task { await second.backend.served.signals.wait(for: "t", since: seen) }
        #expect(await first.send(.post, "/tables/t", #"{"id":"a"}"#).status == 201)
        #expect(await waiting.value == .changed)
        for fixture in [first, second] { try await fixture.backend.close() }
    }
}

@Suite("Moving to another database") struct MoveTests {
    @Test("records keep their versions, readers by time go on, tokens are told to begin afresh, ids go on")
    func moves() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("move-\(UUID().uuidString)").path
        defer { for end in ["", "-mark", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let rules: [BackendConfiguration.Table] = [
            .init("t", columns: [.init("n", .integer)]), .init("numbered", ids: .integer),
        ]
        let first = try await BackendFixture(tables: rules, database: .sqlite(path: path))
        for index in 0..<25 {
            #expect(
                await first.send(.post, "/tables/t", #"{"id":"r\#(index)","n":\#(index),"more":"x"}"#).status == 201)
        }
        _ = await first.send(.delete, "/tables/t/r3")
        let id = await first.send(.post, "/tables/numbered", "{}").json["id"]?.int ?? 0
        let repeated = [
            ("Repeatability-Request-ID", "one"), ("Repeatability-First-Sent", "Mon, 06 May 2024 07:08:09 GMT"),
        ]
        let once = await first.send(.post, "/tables/t", #"{"id":"once"}"#, headers: repeated)
        let token = await first.send(.get, "/tables/t", headers: [("Prefer", "odata.track-changes")])
            .header("X-Sluice-Delta-Token")
        let time = await first.send(.get, "/tables/t/r10").json["updatedAt"]?.string ?? ""
        let before = await first.send(.get, "/tables/t?__includeDeleted=true&$top=100").json
        try await first.backend.close()

        let target =
            try TestDatabase.server.map { try TestDatabase.postgres($0) } ?? .sqlite(path: path + "-other")
        defer {
            for end in ["", "-mark", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: path + "-other" + end)
            }
        }
        let count = try await Backend.move(
            BackendConfiguration(database: .sqlite(path: path), tables: rules), to: target)
        #expect(count == 27)
        await #expect(throws: SluiceError.self) {
            try await Backend.move(BackendConfiguration(database: .sqlite(path: path), tables: rules), to: target)
        }
        let second = try await BackendFixture(tables: rules, database: target)
        let after = await second.send(.get, "/tables/t?__includeDeleted=true&$top=100").json
        #expect(after.elements?.map { $0["version"] } == before.elements?.map { $0["version"] })
        #expect(after.elements?.map { $0["more"] } == before.elements?.map { $0["more"] })
        let later = await second.send(
            .get, "/tables/t?$filter=updatedAt gt datetimeoffset'\(time)'&$orderby=updatedAt&$top=100")
        #expect(Set(later.ids).isSuperset(of: (11..<25).map { "r\($0)" } + ["once"]))
        #expect(await second.send(.get, "/tables/t?$deltatoken=\(token ?? "")").status == 410)
        let again = await second.send(.post, "/tables/t", #"{"id":"once"}"#, headers: repeated)
        #expect(again.status == 201 && again.version == once.version)
        #expect(await second.send(.post, "/tables/numbered", "{}").json["id"]?.int ?? 0 > id)
        try await second.backend.close()
    }
}
