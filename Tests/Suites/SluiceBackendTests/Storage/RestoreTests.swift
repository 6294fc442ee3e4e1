import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// What becomes of versions, tokens, times and ids after the database was put back from a backup.
@Suite("A backup that is restored") struct RestoreTests {
    private static let prefer = [("Prefer", "odata.track-changes")]

    /// How a database is put back.
    enum Way: CaseIterable {
        /// The database alone: the mark beside it is noticed.
        case noticed
        /// In another folder, without a mark.
        case moved
        /// Database and mark: only whoever does it knows.
        case told
    }

    /// A folder with a database, of which copies are made.
    private struct Place {
        let folder: URL
        var seed: [JSON] = []
        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        func path(_ name: String = "backend.db") -> String { folder.appendingPathComponent(name).path }

        func open(
            _ path: String? = nil, ids: BackendConfiguration.Table.IDs = .string, hour: Int64 = 0
        ) async throws -> BackendFixture {
            let now = Timestamp(ticks: BackendFixture.now.ticks + hour * 3600 * Timestamp.ticksPerSecond)
            return try await BackendFixture(
                tables: [.init("t", seed: .records(seed), softDelete: false, ids: ids)],
                database: .sqlite(path: path ?? self.path()), now: { now }, random: { Double.random(in: 0...1) })
        }

        func copy(_ from: String, _ to: String) throws {
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: from + suffix) {
                try? FileManager.default.removeItem(atPath: to + suffix)
                try FileManager.default.copyItem(atPath: from + suffix, toPath: to + suffix)
            }
        }

        /// Keeps the closed database and its mark.
        func backUp() throws {
            try copy(path(), path("backup.db"))
            try copy(path() + "-mark", path("backup.db-mark"))
        }

        /// Opens what was kept.
        func restore(_ way: Way, ids: BackendConfiguration.Table.IDs = .string) async throws -> BackendFixture {
            switch way {
            case .noticed:
                try copy(path("backup.db"), path())
                // Its clock is back where it was, too.
                let fixture = try await open(ids: ids)
                #expect(fixture.backend.restoredRecords != nil)
                return fixture
            case .moved:
                try copy(path("backup.db"), path("moved.db"))
                let fixture = try await open(path("moved.db"), ids: ids, hour: 2)
                #expect(fixture.backend.restoredRecords != nil)
                return fixture
            case .told:
                try copy(path("backup.db"), path())
                try copy(path("backup.db-mark"), path() + "-mark")
                let fixture = try await open(ids: ids, hour: 2)
                #expect(fixture.backend.restoredRecords == nil)
                try await fixture.backend.restored()
                return fixture
            }
        }
    }

    @Test("no version is given out again, so a stale edit is refused", arguments: Way.allCases)
    func versions(_ way: Way) async throws {
        let place = try Place()
        let first = try await place.open()
        let old = await first.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        try await first.backend.close()
        try place.backUp()
        let second = try await place.open()
        // What is lost: one client still has it.
        let lost = await second.send(.patch, "/tables/t/a", #"{"x":2}"#)
        try await second.backend.close()
        let third = try await place.restore(way)
        let other = await third.send(.patch, "/tables/t/a", #"{"x":3}"#)
        #expect(other.status == 200)
        let stale = await third.send(
            .patch, "/tables/t/a", #"{"x":4}"#, headers: [("If-Match", lost.etag ?? "")])
        #expect(stale.status == 412)
        #expect(stale.json["x"] == 3)
        #expect(Set([old.version, lost.version, other.version]).count == 3)
        try await third.backend.close()
    }

    @Test("an edit of a record that the backup has as it was goes through", arguments: Way.allCases)
    func unchanged(_ way: Way) async throws {
        let place = try Place()
        let first = try await place.open()
        let old = await first.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        try await first.backend.close()
        try place.backUp()
        let second = try await place.open()
        _ = await second.send(.post, "/tables/t", #"{"id":"lost"}"#)
        try await second.backend.close()
        let third = try await place.restore(way)
        let edit = await third.send(.patch, "/tables/t/a", #"{"x":4}"#, headers: [("If-Match", old.etag ?? "")])
        #expect(edit.status == 200)
        try await third.backend.close()
    }

    @Test("who reads by time reads everything again, whatever was lost", arguments: Way.allCases)
    func times(_ way: Way) async throws {
        var place = try Place()
        place.seed = (0..<600).map { ["id": JSON("r\($0)"), "x": 1] }
        let first = try await place.open()
        try await first.backend.close()
        try place.backUp()
        let second = try await place.open(hour: 1)
        let lost = await second.send(.patch, "/tables/t/r0", #"{"x":2}"#)
        try await second.backend.close()
        let third = try await place.restore(way)
        let cursor = lost.json["updatedAt"]?.string ?? ""
        let filter = "updatedAt gt datetimeoffset'\(cursor)'"
        let count = await third.send(.get, "/tables/t?$filter=\(filter)&$inlinecount=allpages&$top=0")
        #expect(count.json["count"] == 600)
        let order = await third.send(.get, "/tables/t?$orderby=updatedAt&$top=3&$select=id,x")
        #expect(order.json == [["id": "r0", "x": 1], ["id": "r1", "x": 1], ["id": "r2", "x": 1]])
        // What is written from now on comes after them.
        let next = await third.send(.patch, "/tables/t/r5", #"{"x":9}"#)
        let last = await third.send(.get, "/tables/t?$orderby=updatedAt desc&$top=1")
        #expect(last.ids == ["r5"])
        #expect((next.json["updatedAt"]?.string ?? "") > cursor)
        try await third.backend.close()
    }

    @Test("tokens of the lost history are 410, those from before the backup hold", arguments: Way.allCases)
    func tokens(_ way: Way) async throws {
        let place = try Place()
        let first = try await place.open()
        _ = await first.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        func token(_ fixture: BackendFixture) async -> String {
            await fixture.send(.get, "/tables/t", headers: Self.prefer).header("X-Sluice-Delta-Token") ?? ""
        }
        let kept = await token(first)
        try await first.backend.close()
        try place.backUp()
        let second = try await place.open()
        // Given in another run, before anything was lost.
        let between = await token(second)
        _ = await second.send(.patch, "/tables/t/a", #"{"x":2}"#)
        let lost = await token(second)
        try await second.backend.close()
        let third = try await place.restore(way)
        // As many changes as were lost: the places of the tokens are there again.
        _ = await third.send(.post, "/tables/t", #"{"id":"b","x":1}"#)
        let answer = await third.send(.get, "/tables/t?$deltatoken=\(lost)")
        #expect(answer.status == 410)
        #expect(answer.error.contains("lost"))
        #expect(await third.send(.get, "/tables/t?$deltatoken=\(between)").status == 410)
        let good = await third.send(.get, "/tables/t?$deltatoken=\(kept)")
        #expect(good.status == 200)
        #expect(good.ids.contains("b"))
        try await third.backend.close()
    }

    @Test("ids that only the server makes are not given out again", arguments: Way.allCases)
    func ids(_ way: Way) async throws {
        let place = try Place()
        let first = try await place.open(ids: .integer)
        let old = await first.send(.post, "/tables/t", "{}")
        try await first.backend.close()
        try place.backUp()
        let second = try await place.open(ids: .integer)
        var lost: [Int64] = []
        for _ in 0..<5 { lost.append(await second.send(.post, "/tables/t", "{}").json["id"]?.int ?? 0) }
        try await second.backend.close()
        let third = try await place.restore(way, ids: .integer)
        for _ in 0..<5 {
            let id = await third.send(.post, "/tables/t", "{}").json["id"]?.int ?? 0
            #expect(id > 0 && !lost.contains(id) && id != old.json["id"]?.int)
        }
        try await third.backend.close()
    }

    @Test("a server that ended in the middle of its work is no backup") func ended() async throws {
        let place = try Place()
        let first = try await place.open()
        _ = await first.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        // The files as they are while the first one has them open.
        try place.copy(place.path(), place.path("copy.db"))
        try place.copy(place.path() + "-mark", place.path("copy.db-mark"))
        let second = try await place.open(place.path("copy.db"))
        #expect(second.backend.restoredRecords == nil)
        #expect(await second.send(.get, "/tables/t/a").json["x"] == 1)
        try await second.backend.close()
        try await first.backend.close()
    }

    @Test("a damaged mark counts as none, and one that cannot be written stops the start") func marks() async throws {
        let place = try Place()
        let first = try await place.open()
        _ = await first.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        try await first.backend.close()
        let mark = place.path() + "-mark"
        let good = try #require(LastCommit(line: try String(contentsOfFile: mark, encoding: .utf8)))
        #expect(good.point.number == 1)
        #expect(LastCommit(line: good.line) == good)
        for text in ["", "sluice-mark 1 x 1 1", String(repeating: "x", count: 5000)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: mark))
            let fixture = try await place.open()
            #expect(fixture.backend.restoredRecords == 1, "\(text.prefix(20))")
            try await fixture.backend.close()
            #expect(LastCommit(line: try String(contentsOfFile: mark, encoding: .utf8)) != nil)
        }
        try FileManager.default.removeItem(atPath: mark)
        try FileManager.default.createDirectory(atPath: mark, withIntermediateDirectories: true)
        let error = await #expect(throws: SluiceError.self) { _ = try await place.open() }
        #expect(error?.code == .storeInputOutput)
    }

    @Test("a token of an earlier version is 410, not a mistake of the client's") func earlierTokens() async throws {
        let fixture = try await BackendFixture.empty()
        let token = Data([1] + [UInt8](repeating: 7, count: 24)).base64EncodedString().replacing("=", with: "")
        #expect(await fixture.send(.get, "/tables/t?$deltatoken=\(token)").status == 410)
    }
}
