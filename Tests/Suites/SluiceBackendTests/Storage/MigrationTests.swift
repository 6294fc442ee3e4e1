import Foundation
import HTTPTypes
import SluiceCore
import SluiceSQLite
import Testing

@testable import SluiceBackend

@Suite("Databases of earlier versions") struct MigrationTests {
    /// A database as the first format had it, with one table and two records.
    private func firstFormat() throws -> String {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = directory.appendingPathComponent("backend.db").path
        let connection = try SQLiteConnection(path: path)
        let time = BackendFixture.now.ticks
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE sluice_counter (value INTEGER NOT NULL);
            INSERT INTO sluice_counter VALUES (2);
            CREATE TABLE sluice_tables (
                name TEXT PRIMARY KEY NOT NULL, columns TEXT NOT NULL, latest INTEGER NOT NULL);
            INSERT INTO sluice_tables VALUES ('t',
                '[["createdAt","date"],["updatedAt","date"],["version","string"],["deleted","boolean"]]', \(time + 1));
            CREATE TABLE "t" ("id" TEXT PRIMARY KEY NOT NULL, "createdAt" TEXT, "updatedAt" TEXT, "version" TEXT,
                "deleted" INTEGER, "_extra" TEXT, "_absent" TEXT);
            CREATE INDEX "t(updatedAt)" ON "t" (sluice_ticks("updatedAt"), "id");
            INSERT INTO "t" VALUES ('a', '2024-05-06T07:08:09.1234567Z', '2024-05-06T07:08:09.1234567Z',
                'AAAAAAAAAAE=', 0, '{"n":1}', NULL), ('b', '2024-05-06T07:08:09.1234568Z',
                '2024-05-06T07:08:09.1234568Z', 'AAAAAAAAAAI=', 0, '{"n":2}', NULL);
            PRAGMA application_id = \(0x534C_4245);
            PRAGMA user_version = 1;
            """)
        return path
    }

    @Test("a database of the first format is opened with its records, and has tokens, ids and views from then on")
    func migrates() async throws {
        let path = try firstFormat()
        var rules = BackendConfiguration.Table("t")
        rules.view = try QueryExpression(odata: "n lt 10")
        var token = ""
        for round in 0..<2 {
            let fixture = try await BackendFixture(rules, database: .sqlite(path: path))
            let prefer = [("Prefer", "odata.track-changes")]
            if round == 0 {
                let list = await fixture.send(.get, "/tables/t", headers: prefer)
                #expect(list.ids == ["a", "b"])
                token = list.header("X-Sluice-Delta-Token") ?? ""
                let marks = RepeatableRequestTests.marked("x")
                #expect(await fixture.send(.patch, "/tables/t/a", #"{"n":20}"#, headers: marks).status == 200)
            } else {
                let marks = RepeatableRequestTests.marked("x")
                let again = await fixture.send(.patch, "/tables/t/a", #"{"n":20}"#, headers: marks)
                #expect(again.version == HistoryPoint(epoch: 0, number: 1_000_003).version)
                #expect(fixture.backend.restoredRecords == nil)
                let changes = await fixture.send(.get, "/tables/t?$deltatoken=\(token)")
                #expect(changes.ids == ["a"])
                #expect(changes.json.elements?.first?["@removed"] != nil)
            }
            try await fixture.backend.close()
        }
    }

    @Test("a database of a later format is refused") func later() async throws {
        let path = try firstFormat()
        do {
            let connection = try SQLiteConnection(path: path)
            try connection.execute("PRAGMA user_version = 4")
        }
        let error = await #expect(throws: SluiceError.self) {
            _ = try await BackendFixture(.init("t"), database: .sqlite(path: path))
        }
        #expect(error?.code == .storeSchema)
    }
}
