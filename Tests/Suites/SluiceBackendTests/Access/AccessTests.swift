import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct AccessTests {
    private func fixture(_ tables: BackendConfiguration.Table...) async throws -> BackendFixture {
        try await BackendFixture(tables: tables, authentication: .init(secret: .text(TestToken.secret)))
    }

    @Test("a table for users answers users alone, and names the way in")
    func authenticated() async throws {
        let fixture = try await fixture(.init("t", access: .authenticated))
        let refused = await fixture.send(.get, "/tables/t")
        #expect(refused.status == 401)
        #expect(refused.header("WWW-Authenticate") == "Bearer")
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#).status == 401)
        let user = try await TestToken.user("alice")
        #expect(await fixture.send(.get, "/tables/t", headers: [("X-ZUMO-AUTH", user)]).status == 200)
        #expect(await fixture.send(.get, "/tables/t", headers: [("Authorization", "Bearer \(user)")]).status == 200)
    }

    @Test("the status for a missing user is the table's choice; a bad token is 401 always, on open tables too")
    func statuses() async throws {
        let fixture = try await fixture(
            .init("t", access: .authenticated, unauthorizedStatus: 451), .init("open"))
        #expect(await fixture.send(.get, "/tables/t").status == 451)
        for table in ["t", "open"] {
            let answer = await fixture.send(.get, "/tables/\(table)", headers: [("X-ZUMO-AUTH", "x.y.z")])
            #expect(answer.status == 401)
            #expect(answer.header("WWW-Authenticate")?.contains("invalid_token") == true)
        }
        #expect(await fixture.send(.get, "/tables/open").status == 200)
    }

    @Test("an operation may have a rule of its own; one that is disabled is 405 and the others are named")
    func operations() async throws {
        var access = TableAccess(.anonymous)
        access[.insert] = .authenticated
        access[.delete] = .disabled
        access[.undelete] = .disabled
        let fixture = try await fixture(
            .init("t", seed: .records([["id": "a"], ["id": "gone", "deleted": true]]), access: access))
        #expect(await fixture.send(.get, "/tables/t").status == 200)
        #expect(await fixture.send(.get, "/tables/t/a").status == 200)
        #expect(await fixture.send(.patch, "/tables/t/a", #"{"n":1}"#).status == 200)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"b"}"#).status == 401)
        let deleted = await fixture.send(.delete, "/tables/t/a")
        #expect(deleted.status == 405)
        #expect(deleted.header("Allow") == "GET, PATCH, PUT")
        #expect(await fixture.send(.post, "/tables/t/gone").status == 405)
        // The later wires bring a tombstone back by an update.
        let revived = await fixture.send(
            .patch, "/tables/t/gone", #"{"deleted":false}"#, headers: [("Content-Type", "application/json")],
            version: "3.0.0")
        #expect(revived.status == 405)
        #expect(await fixture.send(.get, "/tables/t/a").status == 200)
    }

    @Test("a table that is disabled is 405 throughout, with and without a user")
    func disabled() async throws {
        let fixture = try await fixture(.init("t", access: TableAccess(.disabled)))
        let user = try await TestToken.user("alice")
        for headers in [[], [("X-ZUMO-AUTH", user)]] {
            #expect(await fixture.send(.get, "/tables/t", headers: headers).status == 405)
            #expect(await fixture.send(.post, "/tables/t", "{}", headers: headers).status == 405)
            #expect(await fixture.send(.patch, "/tables/t/a", "{}", headers: headers).status == 405)
        }
    }

    @Test("without authentication tokens are not looked at")
    func noAuthentication() async throws {
        let fixture = try await BackendFixture.empty()
        #expect(await fixture.send(.get, "/tables/t", headers: [("X-ZUMO-AUTH", "x")]).status == 200)
    }
}
