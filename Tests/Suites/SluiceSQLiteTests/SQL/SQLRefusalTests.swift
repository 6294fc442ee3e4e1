import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("SQL that does more than read")
struct SQLRefusalTests {
    @Test(
        "is refused, and nothing is done",
        arguments: [
            "INSERT INTO films (id) VALUES ('x')", "UPDATE films SET title = ''", "DELETE FROM films",
            "REPLACE INTO films (id) VALUES ('f1')", "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)",
            "CREATE VIEW v AS SELECT 1", "DROP TABLE films", "DROP VIEW films", "ALTER TABLE films RENAME TO g",
            "ATTACH 'other.db' AS other", "DETACH main", "PRAGMA user_version", "PRAGMA query_only = OFF", "BEGIN",
            "COMMIT", "ROLLBACK", "SAVEPOINT a", "VACUUM", "VACUUM INTO 'copy.db'", "ANALYZE", "REINDEX",
            "EXPLAIN DELETE FROM films",
            "WITH x AS (SELECT 1) DELETE FROM films", "WITH x AS (SELECT 1) UPDATE films SET title = ''",
            "WITH x AS (SELECT 'x') INSERT INTO films (id) SELECT * FROM x",
            "WITH x AS (SELECT 'x') INSERT INTO main.films (id) SELECT * FROM x",
            "WITH x AS (SELECT 1) DELETE FROM main.films RETURNING id",
            "WITH x AS (SELECT 1) UPDATE main.films SET title = ''",
            "WITH x AS (DELETE FROM films RETURNING id) SELECT * FROM x",
            "SELECT load_extension('x.so')", "SELECT fts3_tokenizer('a')", "SELECT sqlcipher_export('main')",
            "SELECT sqlite_log(1, 'x')", "SELECT writefile('/tmp/x', 'y')", "SELECT readfile('/etc/passwd')",
            "SELECT last_insert_rowid()",
            "SELECT 1; SELECT 2", "SELECT 1; DELETE FROM films", "SELECT 1; x", "SELECT 1 x y", "", "  -- nothing",
            ";SELECT 1", "/* SELECT 1", "SELECT 1\u{0}", "\u{0}", "'", "é",
        ])
    func writing(_ text: String) async throws {
        for place in [SQLFixture.Place.file, .memory] {
            let fixture = try await SQLFixture(place)
            let error = try #require(await fixture.refusal(text), "\(text)")
            #expect(error.code == .invalidQuery, "\(text): \(error)")
            let films = try await fixture.store.read { try $0.records(matching: TableQuery("films")) }
            #expect(films.map { $0["title"] } == ["Alien", "Brazil"])
            #expect(try await fixture.store.read { try $0.tables().count } == 4)
            try await fixture.store.write { try $0.put(["id": "f3"], in: "films") }
        }
    }

    @Test(
        "tables of the engine and of SQLite are refused by name",
        arguments: [
            ("SELECT * FROM sluice_operations", "sluice_operations"),
            ("SELECT count(*) FROM main.sluice_operations", "sluice_operations"),
            ("SELECT * FROM SLUICE_Operations", "sluice_operations"),
            ("SELECT title FROM films WHERE id IN (SELECT record FROM sluice_operations)", "sluice_operations"),
            ("WITH x AS (SELECT * FROM sluice_schema) SELECT 1 FROM x", "sluice_schema"),
            ("SELECT name FROM sqlite_master", "sqlite_master"), ("SELECT name FROM sqlite_schema", "sqlite_master"),
            ("SELECT name FROM sqlite_temp_master", "sqlite_temp_master"),
            ("SELECT count(*) FROM sqlite_master", "sqlite_master"),
            ("SELECT * FROM pragma_table_list", nil), ("SELECT count(*) FROM pragma_table_info('films')", nil),
            ("SELECT count(*) FROM dbstat", nil),
        ])
    func tables(text: String, table: String?) async throws {
        let fixture = try await SQLFixture()
        let error = try #require(await fixture.refusal(text), "\(text)")
        #expect(error.code == .invalidTable, "\(text): \(error)")
        guard let table else { return }
        #expect(error.table?.lowercased() == table && error.message.lowercased().contains(table), "\(error)")
    }

    @Test("the message says which word or function it is about")
    func messages() async throws {
        let fixture = try await SQLFixture()
        #expect(await fixture.refusal("/* a */ drop table films")?.message.contains("not with DROP") == true)
        #expect(await fixture.refusal("SELECT load_extension('x')")?.message.contains("load_extension") == true)
        #expect(await fixture.refusal("SELECT 1; SELECT 2")?.message.contains("one statement") == true)
        let insert = await fixture.refusal("WITH x AS (SELECT 1) INSERT INTO films (id) SELECT * FROM x")
        #expect(insert?.message.contains("writes to films") == true, "\(String(describing: insert))")
        let wrong = await fixture.refusal("SELECT missing FROM films")
        #expect(wrong?.code == .invalidQuery && wrong?.message.contains("no such column: missing") == true)
        #expect(await fixture.refusal("SELEC 1")?.message.contains("SELEC") == true)
        #expect(await fixture.refusal("SELECT FROM")?.message.contains("near \"FROM\": syntax error") == true)
        #expect(await fixture.refusal("SELECT * FROM nowhere")?.message.contains("no such table: nowhere") == true)
        #expect(await fixture.refusal("SELECT json_extract('{', '$')")?.message.contains("malformed JSON") == true)
        // Only the names of tables count, and not words that look like them.
        #expect(await fixture.refusal("WITH sluice_x(a) AS (SELECT 1) SELECT a, 'sqlite_master' FROM sluice_x") == nil)
    }

    @Test("after a refusal the connection asks nobody any more")
    func afterwards() async throws {
        let fixture = try await SQLFixture(.memory)
        #expect(await fixture.refusal("SELECT * FROM sluice_operations") != nil)
        #expect(try await fixture.store.read { try $0.record("o1", in: "sluice_operations") } != nil)
        try await fixture.store.define([TableSchema("more", columns: [.init("a", .string)])])
        #expect(try await fixture.store.sql("SELECT * FROM more").columns == ["id", "a", "_extra"])
    }
}
