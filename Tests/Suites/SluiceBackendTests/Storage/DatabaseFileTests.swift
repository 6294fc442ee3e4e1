import Foundation
import HTTPTypes
import SluiceCore
import SluiceSQLite
import Testing

@testable import SluiceBackend

/// SQLite finds a file's log by its name: what is written under a second one, or to a file that has gone, is lost.
@Suite("A database under two names, or replaced while it is served") struct DatabaseFileTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func open(_ name: String) async throws -> BackendFixture {
        try await BackendFixture(tables: [.init("t")], database: .sqlite(path: path(name)))
    }

    private func refuses(_ name: String) async throws {
        let error = await #expect(throws: SluiceError.self) { try await open(name).backend.close() }
        #expect(error?.code == .storeInputOutput && error?.message.contains("hard link") == true, "\(error as Any)")
    }

    @Test("a second name: it is opened under neither, and is as it was once one is gone")
    func closed() async throws {
        let first = try await open("b.db")
        #expect(await first.send(.post, "/tables/t", #"{"id":"a"}"#).status == 201)
        try await first.backend.close()
        try FileManager.default.linkItem(atPath: path("b.db"), toPath: path("c.db"))
        try await refuses("b.db")
        try await refuses("c.db")
        #expect(!FileManager.default.fileExists(atPath: path("c.db-wal")))
        try FileManager.default.removeItem(atPath: path("b.db"))
        let again = try await open("c.db")
        #expect(await again.send(.get, "/tables/t/a").status == 200)
        try await again.backend.close()
    }

    @Test("a second name that is made while it runs: nothing is acknowledged until it is gone")
    func linked() async throws {
        let fixture = try await open("b.db")
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#).status == 201)
        try FileManager.default.linkItem(atPath: path("b.db"), toPath: path("c.db"))
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"b"}"#).status == 500)
        try await refuses("c.db")
        try FileManager.default.removeItem(atPath: path("c.db"))
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"c"}"#).status == 201)
        #expect(await fixture.send(.get, "/tables/t?$orderby=id").ids == ["a", "c"])
        try await fixture.backend.close()
    }

    @Test("a file that another came in the place of, or none: nothing is acknowledged", arguments: [true, false])
    func moved(isReplaced: Bool) async throws {
        let fixture = try await open("b.db")
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#).status == 201)
        try FileManager.default.moveItem(atPath: path("b.db"), toPath: path("old.db"))
        if isReplaced { try SQLiteConnection(path: path("b.db")).execute("CREATE TABLE other (a)") }
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"b"}"#).status == 500)
        // Readers open when they are first used, and would show what is there now.
        #expect(await fixture.send(.get, "/tables/t").status == 500)
        #expect(await fixture.send(.delete, "/tables/t/a").status == 500)
        try? await fixture.backend.close()
        if isReplaced {
            #expect(try SQLiteConnection(path: path("b.db")).integer("SELECT count(*) FROM other") == 0)
        }
    }

    @Test("a symbolic link is no second name")
    func symbolic() async throws {
        let first = try await open("b.db")
        try FileManager.default.createSymbolicLink(atPath: path("c.db"), withDestinationPath: path("b.db"))
        let second = try await open("c.db")
        #expect(await second.send(.post, "/tables/t", #"{"id":"a"}"#).status == 201)
        #expect(await first.send(.get, "/tables/t/a").status == 200)
        try await second.backend.close()
        try await first.backend.close()
    }
}
