import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend
@testable import SluicePostgres

/// What cannot be adopted, and what is left when it is undone.
@Suite("Adopting and undoing it", .enabled(if: !TestDatabase.isSQLite, "needs .ci/postgres")) struct AdoptRefusalTests {
    private static func rules(
        key: String? = "code", _ columns: [TableSchema.Column] = [.init("n", .integer)],
        ids: BackendConfiguration.Table.IDs = .string
    ) -> BackendConfiguration.Table {
        var table = BackendConfiguration.Table("t", columns: columns, ids: ids)
        table.key = key
        return table
    }

    @Test(
        "a table that cannot be adopted is refused with the reason, and left as it is",
        arguments: [
            ("CREATE TABLE u (code text PRIMARY KEY, n int)", rules(), "no such table"),
            ("CREATE VIEW t AS SELECT 'a' AS code, 1 AS n", rules(), "a view"),
            ("CREATE TABLE t (code text, n int)", rules(), "no primary key"),
            ("CREATE TABLE t (code text, n int, PRIMARY KEY (code, n))", rules(), "several columns (code, n)"),
            ("CREATE TABLE t (other text PRIMARY KEY, code text, n int)", rules(), "primary key is other"),
            ("CREATE TABLE t (code date PRIMARY KEY, n int)", rules(), "of the type date"),
            ("CREATE TABLE t (code int PRIMARY KEY, n int)", rules(), "ids: integer"),
            ("CREATE TABLE t (code int PRIMARY KEY, n int)", rules(ids: .integer), "new numbers"),
            ("CREATE TABLE t (code text PRIMARY KEY, n bytea)", rules(), "bytea, which cannot be shown as integer"),
            ("CREATE TABLE t (code text PRIMARY KEY, n text)", rules(), "it can be string"),
            ("CREATE TABLE t (code text PRIMARY KEY, m int)", rules(), "no column n; it has code, m"),
            ("CREATE TABLE t (code text PRIMARY KEY, n int GENERATED ALWAYS AS (1) STORED)", rules(), "computed"),
            ("CREATE TABLE t (code text PRIMARY KEY, n int); INSERT INTO t VALUES ('a/b')", rules(), "1 of its keys"),
            ("CREATE TABLE t (code text PRIMARY KEY, n int); CREATE TABLE sluice_copy_t ()", rules(), "sluice_copy_t"),
            ("CREATE TABLE t (code text PRIMARY KEY, n int)", rules(key: nil), "names no key column"),
            (
                "CREATE TABLE t (code text PRIMARY KEY, n int); ALTER TABLE t ENABLE ROW LEVEL SECURITY", rules(),
                "row level security"
            ),
        ])
    func refusals(sql: String, rules: BackendConfiguration.Table, says: String) async throws {
        let own = try AdoptTests.Operator(sql, rules)
        for isDryRun in [true, false] {
            do {
                _ = try await Backend.adopt("t", of: own.configuration, isDryRun: isDryRun)
                Issue.record("it was adopted")
            } catch let error as SluiceError {
                #expect(error.code == .invalidTable && error.message.contains(says), "\(error)")
            }
        }
        let triggers = """
            SELECT count(*) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
            WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
            """
        #expect(try own.sql(triggers) == [[.integer(0)]])
    }

    @Test("a configuration that does not fit is refused before anything is asked of a database")
    func configurations() {
        for (yaml, says) in [
            ("database: 'sqlite::memory:'\ntables:\n  t: { key: code, columns: { n: integer } }", "PostgreSQL"),
            ("database: postgres://127.0.0.1/x\ntables:\n  t: { key: code }", "names its columns"),
            ("database: postgres://127.0.0.1/x\ntables:\n  t: { key: n, columns: { n: integer } }", "is the id"),
            (
                "database: postgres://127.0.0.1/x\ntables:\n  t: { key: c, columns: { n: integer }, view: n eq 1 }",
                "view"
            ),
        ] {
            do {
                _ = try BackendConfiguration(yaml: yaml, file: "backend.yaml", directory: "/")
                Issue.record("it was taken")
            } catch {
                #expect(error.message.contains(says), "\(error)")
            }
        }
    }

    @Test("a dry run changes nothing; undoing leaves the table as it was; what is not adopted is not served")
    func undoing() async throws {
        let own = try AdoptTests.Operator(
            "CREATE TABLE t (code text PRIMARY KEY, n int DEFAULT 5); INSERT INTO t VALUES ('a', 1), ('b', 2)",
            Self.rules())
        func shape() throws -> [[SQLValue]] {
            try own.sql(
                """
                SELECT (SELECT string_agg(attname || ' ' || atttypid::regtype, ',' ORDER BY attnum) FROM pg_attribute
                        WHERE attrelid = 't'::regclass AND attnum > 0),
                    (SELECT count(*) FROM pg_trigger WHERE tgrelid = 't'::regclass),
                    (SELECT count(*) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace),
                    (SELECT string_agg(t::text, ' ' ORDER BY code) FROM t), to_regclass('sluice_copy_t')::text
                """)
        }
        let before = try shape()
        await #expect(throws: SluiceError.self) { try await own.fixture() }
        await #expect(throws: SluiceError.self) { try await Backend.undoAdoption("t", of: own.configuration) }

        let plan = try await Backend.adopt("t", of: own.configuration, isDryRun: true)
        #expect(plan.records == nil && plan.statements.contains { $0.hasPrefix("CREATE FUNCTION") })
        #expect(try shape() == before)

        #expect(try await Backend.adopt("t", of: own.configuration).records == 2)
        do {
            _ = try await Backend.adopt("t", of: own.configuration)
            Issue.record("it was adopted twice")
        } catch let error as SluiceError {
            #expect(error.code == .invalidTable && error.message.contains("adopted already"))
        }
        let fixture = try await own.fixture()
        let token = await fixture.send(.get, "/tables/t", headers: [("Prefer", "odata.track-changes")])
            .header("X-Sluice-Delta-Token")
        #expect(await fixture.send(.delete, "/tables/t/b").status == 204)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"c"}"#).json["n"] == 5)
        try await fixture.backend.close()

        #expect(try await Backend.undoAdoption("t", of: own.configuration, isDryRun: true).records == nil)
        #expect(try await Backend.undoAdoption("t", of: own.configuration).records == 2)
        #expect(try shape()[0].dropLast(2) == before[0].dropLast(2))
        #expect(try own.sql("SELECT t::text FROM t ORDER BY code") == [[.text("(a,1)")], [.text("(c,5)")]])
        #expect(try shape()[0].last == .null)
        await #expect(throws: SluiceError.self) { try await own.fixture() }

        // Nobody heard of what was deleted since, so tokens of the first time are worth nothing.
        _ = try own.sql("DELETE FROM t WHERE code = 'a'")
        _ = try await Backend.adopt("t", of: own.configuration)
        let again = try await own.fixture()
        #expect(await again.send(.get, "/tables/t?$deltatoken=\(token ?? "")").status == 410)
        #expect(await again.send(.get, "/tables/t").ids == ["c"])
        try await again.backend.close()
    }
}
