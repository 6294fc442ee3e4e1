import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct RowScopeTests {
    private func notes(
        _ rules: BackendConfiguration.Table
    ) async throws -> (BackendFixture, alice: [(String, String)], bob: [(String, String)]) {
        let fixture = try await BackendFixture(
            tables: [rules], authentication: .init(secret: .text(TestToken.secret)))
        return (
            fixture, [("X-ZUMO-AUTH", try await TestToken.user("alice"))],
            [("X-ZUMO-AUTH", try await TestToken.user("bob"))]
        )
    }

    @Test("users see, count and touch their own records alone")
    func perUser() async throws {
        let (fixture, alice, bob) = try await notes(.init("notes", perUser: "owner"))
        #expect(await fixture.send(.get, "/tables/notes").status == 401)
        let made = await fixture.send(.post, "/tables/notes", #"{"id":"a","owner":"bob","t":1}"#, headers: alice)
        #expect(made.status == 201)
        #expect(made.json["owner"] == "alice")
        #expect(await fixture.send(.post, "/tables/notes", #"{"id":"b"}"#, headers: bob).status == 201)

        let list = await fixture.send(.get, "/tables/notes?$inlinecount=allpages", headers: alice)
        #expect(list.ids == ["a"])
        #expect(list.json["count"] == 1)
        #expect(await fixture.send(.get, "/tables/notes?$filter=owner eq 'bob'", headers: alice).ids == [])
        #expect(await fixture.send(.get, "/tables/notes?$filter=true or owner eq 'bob'", headers: alice).ids == ["a"])
        for answer in [
            await fixture.send(.get, "/tables/notes/b", headers: alice),
            await fixture.send(.patch, "/tables/notes/b", #"{"t":2}"#, headers: alice),
            await fixture.send(.put, "/tables/notes/b", #"{"t":2}"#, headers: alice),
            await fixture.send(.delete, "/tables/notes/b", headers: alice),
            await fixture.send(.post, "/tables/notes/b", headers: alice),
            await fixture.send(.patch, "/tables/notes/b", "{}", headers: alice + [("If-Match", "\"AAAAAAAAAAA=\"")]),
        ] {
            #expect(answer.status == 404)
            #expect(answer.json["owner"] == nil)
        }
        #expect(await fixture.send(.get, "/tables/notes/b", headers: bob).status == 200)
    }

    @Test("the owner stays the owner, whatever a change says")
    func ownerStays() async throws {
        let (fixture, alice, bob) = try await notes(.init("notes", perUser: "owner"))
        _ = await fixture.send(.post, "/tables/notes", #"{"id":"a"}"#, headers: alice)
        for answer in [
            await fixture.send(.patch, "/tables/notes/a", #"{"owner":"bob"}"#, headers: alice),
            await fixture.send(.put, "/tables/notes/a", #"{"t":2}"#, headers: alice),
            await fixture.send(.put, "/tables/notes/a", #"{"owner":null}"#, headers: alice),
        ] {
            #expect(answer.status == 200)
            #expect(answer.json["owner"] == "alice")
        }
        #expect(await fixture.send(.get, "/tables/notes", headers: bob).ids == [])
    }

    @Test("an insert with the id of somebody else's record tells nothing of it, nor does a tombstone")
    func takenID() async throws {
        let (fixture, alice, bob) = try await notes(.init("notes", perUser: "owner"))
        _ = await fixture.send(.post, "/tables/notes", #"{"id":"a","t":"private"}"#, headers: alice)
        let taken = await fixture.send(.post, "/tables/notes", #"{"id":"a"}"#, headers: bob)
        #expect(taken.status == 400)
        #expect(taken.response.body.isEmpty)
        #expect(taken.etag == nil)
        // Their own is the usual conflict.
        let own = await fixture.send(.post, "/tables/notes", #"{"id":"a"}"#, headers: alice)
        #expect(own.status == 409)
        #expect(own.json["t"] == "private")
        _ = await fixture.send(.delete, "/tables/notes/a", headers: alice)
        #expect(await fixture.send(.post, "/tables/notes", #"{"id":"a"}"#, headers: bob).status == 400)
        #expect(await fixture.send(.get, "/tables/notes?__includeDeleted=true", headers: bob).ids == [])
    }

    @Test("users' names are values, whatever is in them", arguments: ["o'hara", "x' or 1 eq 1 or 'x' eq 'x", "%", "é"])
    func names(user: String) async throws {
        let (fixture, alice, _) = try await notes(.init("notes", perUser: "owner"))
        let headers = [("X-ZUMO-AUTH", try await TestToken.user(user))]
        _ = await fixture.send(.post, "/tables/notes", #"{"id":"a"}"#, headers: alice)
        _ = await fixture.send(.post, "/tables/notes", #"{"id":"b"}"#, headers: headers)
        #expect(await fixture.send(.get, "/tables/notes", headers: headers).ids == ["b"])
        #expect(await fixture.send(.get, "/tables/notes/a", headers: headers).status == 404)
    }

    @Test("a view shows some of the records, and the others are missing by id too")
    func view() async throws {
        let seed: [JSON] = [["id": "a", "draft": false, "n": 1], ["id": "b", "draft": true, "n": 2]]
        let fixture = try await BackendFixture(
            .init("posts", seed: .records(seed), view: try QueryExpression(odata: "draft eq false")))
        #expect(await fixture.send(.get, "/tables/posts?$inlinecount=allpages").ids == ["a"])
        #expect(await fixture.send(.get, "/tables/posts?$filter=n eq 2 or n eq 1").ids == ["a"])
        #expect(await fixture.send(.get, "/tables/posts/b").status == 404)
        #expect(await fixture.send(.patch, "/tables/posts/b", #"{"draft":false}"#).status == 404)
        #expect(await fixture.send(.delete, "/tables/posts/b").status == 404)
        #expect(await fixture.send(.post, "/tables/posts", #"{"id":"b"}"#).status == 400)
        // A change may take a record out of the view.
        #expect(await fixture.send(.patch, "/tables/posts/a", #"{"draft":true}"#).status == 200)
        #expect(await fixture.send(.get, "/tables/posts/a").status == 404)
    }

    @Test("view and owner narrow together, and no user owns nothing")
    func together() throws {
        let rules = BackendConfiguration.Table(
            "t", perUser: "owner", view: try QueryExpression(odata: "n gt 1"))
        let scope = RowScope(rules, Principal(user: "a"), now: BackendFixture.now)
        #expect(scope.filter == (try QueryExpression(odata: "n gt 1 and owner eq 'a'")))
        let client = try QueryExpression(odata: "n lt 9")
        #expect(scope.applied(to: client) == (try QueryExpression(odata: "(n gt 1 and owner eq 'a') and n lt 9")))
        #expect(RowScope(rules, nil, now: BackendFixture.now).filter == .literal(.bool(false)))
        #expect(RowScope(.init("t"), nil, now: BackendFixture.now).filter == nil)
    }
}
