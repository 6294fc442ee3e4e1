import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend
@testable import SluicePostgres

/// A database that others use too: other processes, reports, an operator's own statements.
@Suite("PostgreSQL that is shared", .enabled(if: !TestDatabase.isSQLite, "needs .ci/postgres"))
struct PostgresSharedTests {
    private static let free = BackendConfiguration.Table("t")
    private static let colored = BackendConfiguration.Table("t", columns: [.init("color", .string)])

    private func connection(_ database: BackendConfiguration.Database) throws -> PostgresConnection {
        guard case .postgres(let postgres) = database else { throw CancellationError() }
        return try PostgresConnection(postgres.address)
    }

    private func fixture(
        _ table: BackendConfiguration.Table, _ database: BackendConfiguration.Database
    ) async throws -> BackendFixture {
        try await BackendFixture(
            tables: [table], database: database, random: { Double.random(in: 0...1) }, backends: 1)
    }

    @Test("a process that was started before a column was declared shows, finds and writes its values")
    func columns() async throws {
        let database = try TestDatabase.make()
        let old = try await fixture(Self.free, database)
        for id in ["a", "b"] {
            #expect(await old.send(.post, "/tables/t", #"{"id":"\#(id)","color":"red"}"#).status == 201)
        }
        let new = try await fixture(Self.colored, database)
        #expect(await old.send(.get, "/tables/t/a").json["color"] == "red")
        #expect(await old.send(.get, "/tables/t?$filter=color eq 'red'").ids == ["a", "b"])
        #expect(await old.send(.patch, "/tables/t/a", #"{"color":"blue"}"#).status == 200)
        for process in [old, new] {
            #expect(await process.send(.get, "/tables/t?$filter=color eq 'blue'").ids == ["a"])
            #expect(await process.send(.get, "/tables/t?$filter=color eq 'red'").ids == ["b"])
        }
        try await old.backend.close()
        try await new.backend.close()
    }

    @Test("a process with a new column starts beside a report, and adds the column when the report ends")
    func report() async throws {
        let database = try TestDatabase.make()
        let old = try await fixture(Self.free, database)
        #expect(await old.send(.post, "/tables/t", #"{"id":"a","color":"red"}"#).status == 201)
        let report = try connection(database)
        try report.execute("BEGIN; SELECT count(*) FROM t")
        let new = try await fixture(Self.colored, database)
        #expect(new.backend.served.missingColumns == ["t": ["color"]])
        #expect(await new.send(.post, "/tables/t", #"{"id":"b","color":"blue"}"#).status == 201)
        #expect(await new.send(.get, "/tables/t?$filter=color eq 'red'").ids == ["a"])
        try report.execute("COMMIT")
        for _ in 0..<100 where !new.backend.served.missingColumns.isEmpty {
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(new.backend.served.missingColumns.isEmpty)
        #expect(try report.query("SELECT string_agg(color, ',' ORDER BY id) FROM t").text(0, 0) == "red,blue")
        #expect(await old.send(.get, "/tables/t/b").json["color"] == "blue")
        try await old.backend.close()
        try await new.backend.close()
    }

    @Test("a column whose type was changed by hand needs no restart")
    func types() async throws {
        let database = try TestDatabase.make()
        let fixture = try await fixture(.init("t", columns: [.init("n", .integer)]), database)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a","n":7}"#).status == 201)
        for _ in 0..<4 { #expect(await fixture.send(.get, "/tables/t/a").json["n"] == 7) }
        try connection(database).execute("ALTER TABLE t ALTER COLUMN n TYPE integer")
        for _ in 0..<4 { #expect(await fixture.send(.get, "/tables/t/a").json["n"] == 7) }
        #expect(await fixture.send(.patch, "/tables/t/a", #"{"n":8}"#).status == 200)
        try await fixture.backend.close()
    }

    @Test("settings of the role change no value")
    func settings() async throws {
        let database = try TestDatabase.make()
        try connection(database).execute(
            """
            ALTER ROLE CURRENT_USER SET extra_float_digits = -10; ALTER ROLE CURRENT_USER SET DateStyle = 'SQL, DMY';
            ALTER ROLE CURRENT_USER SET TimeZone = 'Asia/Tokyo'; ALTER ROLE CURRENT_USER SET standard_conforming_strings = off;
            ALTER ROLE CURRENT_USER SET default_transaction_read_only = on
            """)
        let fixture = try await fixture(.init("t", columns: [.init("r", .real), .init("d", .date)]), database)
        let body = #"{"id":"a\\b","r":0.30000000000000004,"d":"2024-02-03T04:05:06.789Z"}"#
        let stored = await fixture.send(.post, "/tables/t", #"{"id":"a","r":0.30000000000000004,"s":"a\\b"}"#)
        #expect(stored.status == 201)
        #expect(await fixture.send(.get, "/tables/t/a").json["r"]?.double == 0.30000000000000004)
        #expect(await fixture.send(.get, "/tables/t/a").json["s"] == "a\\b")
        #expect(await fixture.send(.post, "/tables/t", body.replacing(#"a\\b"#, with: "d")).status == 201)
        #expect(await fixture.send(.get, "/tables/t/d").json["d"] == "2024-02-03T04:05:06.789Z")
        try await fixture.backend.close()
    }

    @Test("writes that wait for a lock are all refused in time, however many they are", .timeLimit(.minutes(1)))
    func waiting() async throws {
        let database = try TestDatabase.postgres(
            try #require(TestDatabase.server), parameters: "readers=2&statement_timeout=1")
        let fixture = try await fixture(Self.free, database)
        let other = try connection(database)
        try other.execute("BEGIN; SELECT value FROM sluice_counter FOR UPDATE")
        let begun = ContinuousClock.now
        let statuses = await withTaskGroup(of: Int.self) { group in
            for index in 0..<20 {
                group.addTask { await fixture.send(.post, "/tables/t", #"{"id":"r\#(index)"}"#).status }
            }
            return await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(statuses == [503])
        #expect(begun.duration(to: .now) < .seconds(20))
        try other.execute("ROLLBACK")
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#).status == 201)
        try await fixture.backend.close()
    }

    @Test("a number of eight bytes is no answer of a hundred thousand, and comes back as it was sent")
    func numbers() async throws {
        let fixture = try await fixture(.init("t", columns: [.init("j", .json)]), try TestDatabase.make())
        for (id, body) in [("a", #""j":[1e131071,1e5]"#), ("b", #""x":1e131071,"y":{"z":[-0.0]}"#)] {
            #expect(await fixture.send(.post, "/tables/t", #"{"id":"\#(id)",\#(body)}"#).status == 201)
            let read = await fixture.send(.get, "/tables/t/\(id)")
            #expect(read.response.body.bytes.count < 500)
            #expect(String(decoding: read.response.body.bytes, as: UTF8.self).contains(body.dropFirst(4).dropLast()))
        }
        try await fixture.backend.close()
    }

    @Test("an order that the database does not have gives the right page of many records")
    func orders() async throws {
        let database = try TestDatabase.make()
        let fixture = try await fixture(Self.free, database)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"x","n":-1}"#).status == 201)
        try connection(database).execute(
            """
            INSERT INTO t (id, _extra, "createdAt", "updatedAt", version, deleted)
            SELECT 'r' || i, jsonb_build_object('n', i * 7919 % 5003), now(), now(), 'v' || i, false
            FROM generate_series(1, 5002) AS i
            """)
        let last = await fixture.send(.get, "/tables/t?$orderby=n desc&$top=2&$select=n").json.elements ?? []
        #expect(last.compactMap { $0["n"]?.int } == [5002, 5001])
        let first = await fixture.send(.get, "/tables/t?$orderby=n&$skip=3000&$top=2&$select=n").json.elements ?? []
        #expect(first.compactMap { $0["n"]?.int } == [3000, 3001])
        try await fixture.backend.close()
    }
}
