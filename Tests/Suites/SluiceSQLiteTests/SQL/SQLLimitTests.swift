import SluiceCore
import Testing

@testable import SluiceSQLite

@Suite("The limits of SQL")
struct SQLLimitTests {
    @Test(
        "a statement without an end stops at the time limit, and the store goes on",
        arguments: SQLFixture.Place.allCases)
    func time(place: SQLFixture.Place) async throws {
        let fixture = try await SQLFixture(place)
        let error = await fixture.refusal(SQLFixture.endless, options: .init(timeLimit: .milliseconds(200)))
        #expect(error?.code == .limitReached && error?.message.contains("time limit") == true)
        #expect(try await fixture.store.sql("SELECT count(*) FROM films").rows == [[2]])
        try await fixture.store.write { try $0.put(["id": "f3"], in: "films") }
        #expect(try await fixture.store.sql("SELECT count(*) FROM films").rows == [[3]])
        try await fixture.store.close()
    }

    @Test("so many rows are allowed, and no more")
    func rows() async throws {
        let fixture = try await SQLFixture()
        let text = "SELECT * FROM ratings"
        #expect(await fixture.refusal(text, options: .init(rowLimit: 3)) == nil)
        let error = await fixture.refusal(text, options: .init(rowLimit: 2))
        #expect(error?.code == .limitReached && error?.message.contains("row limit of 2") == true)
        #expect(await fixture.refusal("SELECT 1 WHERE 0", options: .init(rowLimit: 0)) == nil)
        #expect(await fixture.refusal("SELECT 1", options: .init(rowLimit: 0))?.code == .limitReached)
    }

    @Test("so many bytes are allowed, and no more")
    func bytes() async throws {
        let fixture = try await SQLFixture()
        #expect(await fixture.refusal("SELECT 'abc', 1", options: .init(byteLimit: 11)) == nil)
        let error = await fixture.refusal("SELECT 'abc', 1", options: .init(byteLimit: 10))
        #expect(error?.code == .limitReached && error?.message.contains("byte limit of 10") == true)
        // One value that is larger than all rows may be is not even made.
        for text in ["SELECT zeroblob(900000000)", "SELECT length(hex(zeroblob(60000000)))"] {
            let error = await fixture.refusal(text)
            #expect(error?.code == .limitReached && error?.message.contains("byte limit") == true, "\(text)")
        }
        #expect(try await fixture.store.sql("SELECT length(zeroblob(1000))").rows == [[1000]])
    }

    @Test("a limit that cannot be is refused")
    func limits() async throws {
        let fixture = try await SQLFixture()
        for options in [SQLOptions(timeLimit: .zero), SQLOptions(rowLimit: -1), SQLOptions(byteLimit: -1)] {
            #expect(await fixture.refusal("SELECT 1", options: options)?.code == .invalidArgument)
        }
        let most = SQLOptions(timeLimit: .seconds(Int64.max), rowLimit: .max, byteLimit: .max)
        #expect(await fixture.refusal("SELECT 1", options: most) == nil)
    }

    @Test("cancelling the task interrupts the statement", arguments: SQLFixture.Place.allCases)
    func cancel(place: SQLFixture.Place) async throws {
        let fixture = try await SQLFixture(place)
        let store = fixture.store
        let task = Task { try await store.sql(SQLFixture.endless, options: .init(timeLimit: .seconds(600))) }
        let waiting = Task { try await store.sql("SELECT 1") }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        let error = await #expect(throws: SluiceError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await waiting.value.rows == [[1]])
    }
}
