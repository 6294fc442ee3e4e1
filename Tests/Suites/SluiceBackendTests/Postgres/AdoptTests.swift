import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend
@testable import SluicePostgres

/// A table that the operator had before the backend came.
@Suite("Adopted tables", .enabled(if: !TestDatabase.isSQLite, "needs .ci/postgres")) struct AdoptTests {
    /// An operator's database, and the connection of the operator's own programs.
    struct Operator {
        let database: BackendConfiguration.Database
        let connection: PostgresConnection
        let tables: [BackendConfiguration.Table]

        init(_ sql: String, _ tables: BackendConfiguration.Table...) throws {
            database = try TestDatabase.postgres(try #require(TestDatabase.server))
            guard case .postgres(let postgres) = database else { throw CancellationError() }
            connection = try PostgresConnection(postgres.address)
            try connection.execute(sql)
            self.tables = tables
        }

        var configuration: BackendConfiguration { BackendConfiguration(database: database, tables: tables) }

        func adopt() async throws {
            for table in tables where table.key != nil { _ = try await Backend.adopt(table.name, of: configuration) }
        }

        func fixture() async throws -> BackendFixture {
            try await BackendFixture(tables: tables, database: database, random: { Double.random(in: 0...1) })
        }

        func sql(_ text: String) throws -> [[SQLValue]] { try connection.execute(text).last?.rows ?? [] }
    }

    private static func table(_ name: String, _ columns: [TableSchema.Column]) -> BackendConfiguration.Table {
        var table = BackendConfiguration.Table(name, columns: columns)
        table.key = "code"
        return table
    }

    private static let customers = """
        CREATE TABLE customers (code text PRIMARY KEY, full_name varchar(20) NOT NULL, balance numeric(30, 12),
            born date, seen timestamp, active boolean DEFAULT true, notes jsonb, internal text DEFAULT 'kept');
        INSERT INTO customers (code, full_name, balance, born, seen, notes) VALUES
            ('a', 'Ann', 12345678901234567.123456789012, '1970-02-03', '2024-05-06 07:08:09.123456', '{"x": [1]}'),
            ('b', 'Bob', 'NaN', NULL, 'infinity', NULL);
        """

    private static func shop() throws -> Operator {
        try Operator(
            customers,
            table(
                "customers",
                [
                    .init("full_name", .string), .init("balance", .real), .init("born", .date), .init("seen", .date),
                    .init("active", .boolean), .init("notes", .json),
                ]))
    }

    private static let tracking = [("Prefer", "odata.track-changes")]

    @Test("rows are served as they are, and a change touches nothing but what was changed") func serves() async throws {
        let own = try Self.shop()
        try await own.adopt()
        let fixture = try await own.fixture()
        let list = await fixture.send(.get, "/tables/customers?$orderby=id")
        #expect(list.ids == ["a", "b"])
        let ann = try #require(list.json.elements?.first)
        #expect(ann["full_name"] == "Ann" && ann["active"] == true && ann["notes"] == ["x": [1]])
        #expect(ann["born"]?.string?.hasPrefix("1970-02-03T00:00:00") == true)
        #expect(ann["seen"]?.string?.hasPrefix("2024-05-06T07:08:09.123456") == true)
        #expect(list.json[1]?["balance"] == .null && list.json[1]?["seen"] == .null)
        #expect(
            await fixture.send(.get, "/tables/customers?$filter=full_name eq 'Bob' and active eq true").ids == ["b"])

        let answer = await fixture.send(.patch, "/tables/customers/a", #"{"full_name":"Anna","more":7}"#)
        #expect(answer.status == 200 && answer.json["full_name"] == "Anna" && answer.json["more"] == 7)
        #expect(
            try own.sql("SELECT full_name, balance::text, born::text, internal FROM customers WHERE code = 'a'") == [
                [.text("Anna"), .text("12345678901234567.123456789012"), .text("1970-02-03"), .text("kept")]
            ])
        #expect(await fixture.send(.get, "/tables/customers/a").json["more"] == 7)
        #expect(await fixture.send(.get, "/tables/customers/a").version == answer.version)

        let new = await fixture.send(
            .post, "/tables/customers", #"{"id":"c","full_name":"Cy","balance":0.1,"born":"2001-02-03T00:00:00Z"}"#)
        #expect(new.status == 201 && new.json["active"] == true)
        #expect(
            try own.sql("SELECT balance::text, born::text FROM customers WHERE code = 'c'")[0][1] == .text("2001-02-03")
        )
        #expect(await fixture.send(.delete, "/tables/customers/c").status == 204)
        #expect(try own.sql("SELECT code FROM customers ORDER BY code") == [[.text("a")], [.text("b")]])
        try await fixture.backend.close()
    }

    @Test("clients hear of what the operator's own SQL writes and deletes, by token and by time")
    func hears() async throws {
        let own = try Self.shop()
        try await own.adopt()
        let fixture = try await own.fixture()
        func page(_ token: String) async -> (Answer, String) {
            let path = "/tables/customers" + (token.isEmpty ? "" : "?$deltatoken=\(token)")
            let answer = await fixture.send(.get, path, headers: Self.tracking)
            return (answer, answer.header("X-Sluice-Delta-Token") ?? "")
        }
        var (answer, token) = await page("")
        #expect(Set(answer.ids) == ["a", "b"])
        let time = await fixture.send(.get, "/tables/customers/b").json["updatedAt"]?.string ?? ""
        let before = await fixture.send(.get, "/tables/customers/a")

        _ = try own.sql(
            """
            UPDATE customers SET full_name = upper(full_name) WHERE code = 'a';
            INSERT INTO customers (code, full_name) SELECT 'n' || i, 'new' FROM generate_series(1, 50) AS i
            """)
        (answer, token) = await page(token)
        #expect(Set(answer.ids) == Set((1...50).map { "n\($0)" } + ["a"]))
        let versions = Set(answer.json.elements?.compactMap { $0["version"]?.string } ?? [])
        #expect(versions.count == 51 && !versions.contains(before.version))
        let later = await fixture.send(
            .get, "/tables/customers?$filter=updatedAt gt datetimeoffset'\(time)'&$orderby=updatedAt&$top=100")
        #expect(Set(later.ids).isSuperset(of: ["a", "n1", "n50"]))
        // An edit of what was before is a conflict.
        let late = await fixture.send(
            .patch, "/tables/customers/a", #"{"full_name":"x"}"#, headers: [("If-Match", "\"\(before.version)\"")])
        #expect(late.status == 412)

        _ = try own.sql("DELETE FROM customers WHERE code LIKE 'n%' AND code <> 'n7'")
        (answer, token) = await page(token)
        #expect(answer.json.elements?.count == 49)
        #expect(answer.json.elements?.allSatisfy { $0["deleted"] == true } == true)
        // A row's key is its id: another key is another record.
        _ = try own.sql("UPDATE customers SET code = 'z' WHERE code = 'n7'")
        (answer, token) = await page(token)
        #expect(Set(answer.ids) == ["n7", "z"])
        // What is served nowhere is no change.
        _ = try own.sql("UPDATE customers SET internal = 'other'")
        (answer, token) = await page(token)
        #expect(answer.ids.isEmpty)
        _ = try own.sql("TRUNCATE customers")
        (answer, token) = await page(token)
        #expect(answer.json.elements?.count == 3)
        #expect(await fixture.send(.get, "/tables/customers").ids.isEmpty)
        // The place of a tombstone can be taken again.
        _ = try own.sql("INSERT INTO customers (code, full_name) VALUES ('a', 'again')")
        (answer, token) = await page(token)
        #expect(answer.ids == ["a"])
        try await fixture.backend.close()
    }

    @Test("keys that are numbers come from the table's own sequence, also where SQL used it")
    func numbers() async throws {
        var rules = BackendConfiguration.Table(
            "orders", softDelete: false, columns: [.init("total", .real)], ids: .integer)
        rules.key = "no"
        let own = try Operator(
            """
            CREATE TABLE orders (no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, total double precision);
            INSERT INTO orders (total) VALUES (1), (2)
            """, rules)
        try await own.adopt()
        let fixture = try await own.fixture()
        #expect(await fixture.send(.post, "/tables/orders", #"{"total":3}"#).json["id"] == 3)
        _ = try own.sql("INSERT INTO orders (total) VALUES (4)")
        #expect(await fixture.send(.post, "/tables/orders", #"{"total":5}"#).json["id"] == 5)
        let list = await fixture.send(.get, "/tables/orders?$orderby=id desc")
        #expect(list.json.elements?.map { $0["id"] } == [5, 4, 3, 2, 1])
        let token = await fixture.send(.get, "/tables/orders", headers: Self.tracking)
            .header("X-Sluice-Delta-Token")
        // No tombstone is kept, so who has a token begins afresh.
        _ = try own.sql("DELETE FROM orders WHERE no = 1")
        #expect(await fixture.send(.get, "/tables/orders?$deltatoken=\(token ?? "")").status == 410)
        #expect(await fixture.send(.delete, "/tables/orders/2").status == 204)
        #expect(try own.sql("SELECT count(*) FROM orders") == [[.integer(3)]])
        try await fixture.backend.close()
    }

    @Test("what the table's own rules, types and triggers make of a change is what is answered")
    func rules() async throws {
        let own = try Operator(
            """
            CREATE TABLE "Odd ""name" (x int);
            CREATE TABLE items (code uuid PRIMARY KEY, "na""me" text CHECK ("na""me" <> 'bad'), price numeric(6, 2));
            CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF TG_OP = 'DELETE' THEN RETURN NULL; END IF;
                NEW."na""me" := upper(NEW."na""me"); RETURN NEW;
            END $$;
            CREATE TRIGGER shout BEFORE INSERT OR UPDATE OR DELETE ON items FOR EACH ROW EXECUTE FUNCTION shout()
            """, Self.table("items", [.init("na\"me", .string), .init("price", .real)]))
        try await own.adopt()
        let fixture = try await own.fixture()
        let id = "0190b0f3-1f2e-7000-8000-000000000001"
        let made = await fixture.send(
            .post, "/tables/items", #"{"id":"\#(id)","na\"me":"quiet","price":1.239}"#)
        #expect(made.status == 201 && made.json["na\"me"] == "QUIET" && made.json["price"] == 1.24)
        #expect(made.version == (await fixture.send(.get, "/tables/items/\(id)")).version)
        for body in [
            #"{"id":"\#(id.uppercased())"}"#, #"{"id":"no uuid"}"#,
            #"{"id":"0190b0f3-1f2e-7000-8000-000000000002","price":"text"}"#,
            #"{"id":"0190b0f3-1f2e-7000-8000-000000000002","price":123456789}"#,
        ] {
            let answer = await fixture.send(.post, "/tables/items", body)
            #expect(answer.status == 400, "\(body): \(answer.error)")
        }
        #expect(await fixture.send(.patch, "/tables/items/\(id)", #"{"na\"me":"bad"}"#).status == 200)
        // The trigger keeps rows from being deleted, so the record is there for clients too.
        #expect(await fixture.send(.delete, "/tables/items/\(id)").status == 400)
        #expect(await fixture.send(.get, "/tables/items").ids == [id])
        try await fixture.backend.close()
    }

    @Test("a trigger that raises refuses the change, whatever its code", arguments: ["", " USING ERRCODE = 'MY001'"])
    func raised(_ code: String) async throws {
        let own = try Operator(
            """
            CREATE TABLE items (code text PRIMARY KEY, n int);
            INSERT INTO items VALUES ('a', 1);
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                RAISE EXCEPTION 'the order is closed'\(code);
            END $$;
            CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON items FOR EACH ROW EXECUTE FUNCTION refuse()
            """, Self.table("items", [.init("n", .integer)]))
        try await own.adopt()
        let fixture = try await own.fixture()
        let answers = [
            await fixture.send(.post, "/tables/items", #"{"id":"b","n":2}"#),
            await fixture.send(.patch, "/tables/items/a", #"{"n":2}"#), await fixture.send(.delete, "/tables/items/a"),
        ]
        for answer in answers {
            #expect(
                answer.status == 400 && answer.error.contains("a trigger of the database refuses"), "\(answer.error)")
        }
        try await fixture.backend.close()
    }

    @Test("a delete that cascades is heard of in the other table too") func cascades() async throws {
        let own = try Operator(
            """
            CREATE TABLE lists (code text PRIMARY KEY, title text);
            CREATE TABLE items (code text PRIMARY KEY, list text REFERENCES lists ON DELETE CASCADE);
            INSERT INTO lists VALUES ('l', 'List'); INSERT INTO items VALUES ('i', 'l'), ('j', 'l')
            """, Self.table("lists", [.init("title", .string)]), Self.table("items", [.init("list", .string)]))
        try await own.adopt()
        let fixture = try await own.fixture()
        let first = await fixture.send(.get, "/tables/items", headers: Self.tracking)
        #expect(await fixture.send(.delete, "/tables/lists/l").status == 204)
        let then = await fixture.send(
            .get, "/tables/items?$deltatoken=\(first.header("X-Sluice-Delta-Token") ?? "")", headers: Self.tracking)
        #expect(Set(then.ids) == ["i", "j"])
        #expect(then.json.elements?.allSatisfy { $0["deleted"] == true } == true)
        // A reference to what is not there is refused by the database.
        #expect(await fixture.send(.post, "/tables/items", #"{"id":"k","list":"none"}"#).status == 400)
        try await fixture.backend.close()
    }
}

@Suite("Triggers of adopted tables", .enabled(if: !TestDatabase.isSQLite, "needs .ci/postgres"))
struct AdoptedTriggerTests {
    @Test("doubles come as they are, but for those that JSON cannot write")
    func doubles() async throws {
        var rules = BackendConfiguration.Table("t", columns: [.init("n", .real)])
        rules.key = "code"
        let own = try AdoptTests.Operator("CREATE TABLE t (code text PRIMARY KEY, n double precision)", rules)
        try await own.adopt()
        let values = ["1.7976931348623157e308", "-1e300", "5e-324", "2.2250738585072014e-308", "'NaN'", "'-Infinity'"]
        for (index, value) in values.enumerated() { _ = try own.sql("INSERT INTO t VALUES ('\(index)', \(value))") }
        let fixture = try await own.fixture()
        let rows = await fixture.send(.get, "/tables/t").json.elements ?? []
        #expect(rows.map { $0["n"]?.double } == values.map { Double($0) })
        try await fixture.backend.close()
    }

    @Test("what the table's own triggers change in it is followed, also where it is the same row")
    func nested() async throws {
        var rules = BackendConfiguration.Table(
            "t", columns: [.init("net", .integer), .init("gross", .integer), .init("main", .boolean)])
        rules.key = "code"
        let own = try AdoptTests.Operator(
            """
            CREATE TABLE t (code text PRIMARY KEY, net int, gross int, main boolean);
            CREATE FUNCTION follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                UPDATE t SET gross = NEW.net * 2 WHERE code = NEW.code;
                IF NEW.main THEN UPDATE t SET main = false WHERE code <> NEW.code AND main; END IF;
                IF NEW.net < 0 THEN DELETE FROM t WHERE code = NEW.code; END IF;
                RETURN NULL;
            END $$;
            CREATE TRIGGER follow AFTER INSERT OR UPDATE OF net, main ON t FOR EACH ROW WHEN (pg_trigger_depth() < 1)
                EXECUTE FUNCTION follow();
            CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO t VALUES (OLD.code, 99); RETURN NULL;
            END $$;
            CREATE TRIGGER again AFTER DELETE ON t FOR EACH ROW WHEN (OLD.code = 'k') EXECUTE FUNCTION again();
            INSERT INTO t VALUES ('a', 1, 0, true), ('b', 2, 0, false), ('c', 3, 0, false), ('k', 4, 0, false);
            """, rules)
        try await own.adopt()
        let fixture = try await own.fixture()
        func compare(_ what: String) async throws {
            let rows = await fixture.send(.get, "/tables/t?$orderby=id").json.elements ?? []
            let seen = rows.map { "\($0["id"]?.string ?? "") \($0["net"] ?? 0) \($0["gross"] ?? 0) \($0["main"] ?? 0)" }
            let there = try own.sql(
                """
                SELECT code || ' ' || coalesce(net::text, 'null') || ' ' || coalesce(gross::text, 'null') || ' ' ||
                    coalesce(main::text, 'null') FROM t ORDER BY code COLLATE "C"
                """)
            #expect(there == seen.map { [.text($0)] }, "\(what)")
        }
        for statement in [
            "UPDATE t SET net = 7 WHERE code = 'a'", "INSERT INTO t VALUES ('d', 5)",
            "UPDATE t SET main = true WHERE code IN ('b', 'c')", "INSERT INTO t VALUES ('m', -1), ('n', 1)",
            "UPDATE t SET net = -5 WHERE code = 'd'", "DELETE FROM t WHERE code = 'k'",
            "UPDATE t SET code = 'z' WHERE code = 'n'",
        ] {
            _ = try own.sql(statement)
            try await compare(statement)
        }
        let patched = await fixture.send(.patch, "/tables/t/a", #"{"net":21}"#)
        #expect(patched.status == 200 && patched.json["gross"] == 42)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"x","net":8,"main":true}"#).json["gross"] == 16)
        try await compare("changes of a client")
        _ = try own.sql("TRUNCATE t")
        try await compare("truncate")
        try await fixture.backend.close()
    }

    @Test("a document that is no object is followed as any other, also after a client has changed the row")
    func scalars() async throws {
        var rules = BackendConfiguration.Table(
            "t", columns: [.init("s", .string), .init("a", .json), .init("b", .json)])
        rules.key = "code"
        let own = try AdoptTests.Operator("CREATE TABLE t (code text PRIMARY KEY, s text, a jsonb, b json)", rules)
        try await own.adopt()
        let values = ["5", "1.50", #""text""#, "true", "[1]"]
        for (index, value) in values.enumerated() {
            _ = try own.sql("INSERT INTO t VALUES ('\(index)', 'x', '\(value)', '\(value)')")
        }
        let fixture = try await own.fixture()
        for (index, value) in values.enumerated() {
            let answer = await fixture.send(.patch, "/tables/t/\(index)", #"{"s":"by a client"}"#)
            #expect(answer.json["a"] == (try JSON(parsing: value)) && answer.json["b"] == answer.json["a"])
        }
        #expect(try own.sql("SELECT count(*) FROM t WHERE s = 'by a client' AND a = b::jsonb") == [[.integer(5)]])
        _ = try own.sql(#"UPDATE t SET a = '{"new": 1}', b = '"new"'"#)
        let rows = await fixture.send(.get, "/tables/t").json.elements ?? []
        #expect(rows.count == 5 && rows.allSatisfy { $0["a"] == ["new": 1] && $0["b"] == "new" })
        try await fixture.backend.close()
    }

    @Test("values that the copy has no form for are in the way of no statement of the operator's")
    func values() async throws {
        var rules = BackendConfiguration.Table("t", columns: [.init("n", .real), .init("j", .json)])
        rules.key = "code"
        let own = try AdoptTests.Operator("CREATE TABLE t (code text PRIMARY KEY, n numeric, j json)", rules)
        try await own.adopt()
        _ = try own.sql(
            """
            INSERT INTO t VALUES ('a', 1e-400, '{"x":"\\u0000"}'), ('b', 1e400, '[1e200000]'), ('c', 0, '{"x":1,"x":2}'),
                ('d', -2.5, '[1]'), ('e', 1.7976931348623157e308, 'null'), ('f', -1e308, 'null'), ('g', 5e-324, 'null')
            """)
        let fixture = try await own.fixture()
        let rows = await fixture.send(.get, "/tables/t").json.elements ?? []
        #expect(
            rows.map { $0["n"]?.double } == [
                0, nil, 0, -2.5, 1.7976931348623157e308, -1e308, Double.leastNonzeroMagnitude,
            ])
        #expect(rows.prefix(4).map { $0["j"] } == [.null, .null, ["x": 2], [1]])
        #expect(await fixture.send(.patch, "/tables/t/d", #"{"j":[1e5000]}"#).status == 400)
        #expect(await fixture.send(.patch, "/tables/t/d", #"{"j":[1e-5]}"#).status == 200)
        try await fixture.backend.close()
        _ = try await Backend.undoAdoption("t", of: own.configuration)
        let left =
            "SELECT count(*) FROM pg_proc WHERE proname LIKE 'sluice%' AND pronamespace = current_schema()::regnamespace"
        #expect(try own.sql(left) == [[.integer(0)]])
    }
}
