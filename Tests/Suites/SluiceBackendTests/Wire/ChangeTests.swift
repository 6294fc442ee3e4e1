import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite("Changes") struct ChangeTests {
    @Test("An insert answers with the whole item, its version and its place") func insert() async throws {
        let fixture = try await BackendFixture.empty()
        let answer = await fixture.send(.post, "/tables/t", #"{"text":"milk","version":"ignored"}"#)
        #expect(answer.status == 201)
        #expect(answer.json["id"] == "made-1")
        #expect(answer.json["text"] == "milk")
        #expect(answer.json["deleted"] == false)
        #expect(answer.json["createdAt"] == "2024-05-06T07:08:09.123Z")
        #expect(answer.json["updatedAt"] == "2024-05-06T07:08:09.123Z")
        #expect(answer.version == "AAAAAAAAAAAAAAAB")
        #expect(answer.etag == "\"AAAAAAAAAAAAAAAB\"")
        #expect(answer.header("Location") == "http://127.0.0.1:8080/tables/t/made-1")
        #expect(answer.header("Cache-Control") == "no-cache")
        #expect(answer.header("x-zumo-server-version") == "sluice-0.1.0")
    }

    @Test("An id that exists is a conflict with the server's record, tombstone or not") func duplicate() async throws {
        let fixture = try await BackendFixture.empty()
        let first = await fixture.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        let second = await fixture.send(.post, "/tables/t", #"{"id":"a","x":2}"#)
        #expect(second.status == 409)
        #expect(second.json["x"] == 1)
        #expect(second.etag == first.etag)
        _ = await fixture.send(.delete, "/tables/t/a")
        let third = await fixture.send(.post, "/tables/t", #"{"id":"a","x":3}"#)
        #expect(third.status == 409)
        #expect(third.json["deleted"] == true)
    }

    @Test("Properties of every kind come back as they went") func fidelity() async throws {
        let fixture = try await BackendFixture.empty()
        let text = #"{"id":"a","big":18446744073709551616,"price":1.10,"n":null,"o":{"a":[1,true,"é"]},"e":""}"#
        _ = await fixture.send(.post, "/tables/t", text)
        let answer = await fixture.send(.get, "/tables/t/a")
        for name in ["big", "price", "n", "o", "e"] {
            #expect(answer.json[name] == (try JSON(parsing: text))[name], "\(name)")
        }
        #expect(String(describing: answer.json).contains("\"price\":1.10"))
    }

    @Test("PATCH merges, PUT replaces, and both give a new version") func merge() async throws {
        let fixture = try await BackendFixture.empty()
        let first = await fixture.send(.post, "/tables/t", #"{"id":"a","x":1,"y":2}"#)
        let patched = await fixture.send(.patch, "/tables/t/a", #"{"x":null,"z":3}"#)
        #expect(patched.status == 200)
        #expect(patched.json["x"] == JSON.null)
        #expect(patched.json["y"] == 2)
        #expect(patched.json["z"] == 3)
        #expect(patched.etag == "\"AAAAAAAAAAAAAAAC\"")
        let put = await fixture.send(.put, "/tables/t/a", #"{"id":"a","w":4}"#)
        #expect(put.status == 200)
        // Null, as of every property that the table's records have had.
        #expect(put.json["y"] == JSON.null)
        #expect(put.json["w"] == 4)
        #expect(put.json["createdAt"] == first.json["createdAt"])
    }

    @Test(
        "Only the version itself, alone or in a list, or * satisfies If-Match",
        arguments: [
            (["\"AAAAAAAAAAAAAAAB\""], 200), (["*"], 200), (["\"AAAAAAAAAAAAAAAC\""], 412),
            (["W/\"AAAAAAAAAAAAAAAB\""], 412),
            (["AAAAAAAAAAAAAAAB"], 200), (["AAAAAAAAAAAAAAAC"], 412), (["AAAAAAAAAAAAAAAB, x"], 200),
            (["\"AAAAAAAAAAAAAAAB\", \"x\""], 200), (["\"AAAAAAAAAAAAAAAB\"", "\"x\""], 200),
            (["\"AAAAAAAAAAAAAAAC\", \"x\""], 412),
            (["\""], 412), ([""], 412),
        ])
    func ifMatch(values: [String], status: Int) async throws {
        let fixture = try await BackendFixture.empty()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        let headers = values.map { ("If-Match", $0) }
        let answer = await fixture.send(.patch, "/tables/t/a", #"{"x":2}"#, headers: headers)
        #expect(answer.status == status)
        if status == 412 {
            #expect(answer.json["x"] == 1)
            #expect(answer.etag == "\"AAAAAAAAAAAAAAAB\"")
            #expect(await fixture.send(.put, "/tables/t/a", #"{"x":2}"#, headers: headers).status == 412)
            #expect(await fixture.send(.delete, "/tables/t/a", headers: headers).status == 412)
        }
    }

    @Test("A stale version in the body alone is 409") func bodyVersion() async throws {
        let fixture = try await BackendFixture.empty()
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        let stale = await fixture.send(.patch, "/tables/t/a", #"{"x":2,"version":"old"}"#)
        #expect(stale.status == 409)
        #expect(stale.json["x"] == 1)
        let good = await fixture.send(.patch, "/tables/t/a", #"{"x":2,"version":"AAAAAAAAAAAAAAAB"}"#)
        #expect(good.status == 200)
        #expect(good.version == "AAAAAAAAAAAAAAAC")
    }

    @Test("A soft-deleted record hides, stays, and comes back") func softDelete() async throws {
        let fixture = try await BackendFixture.empty()
        let first = await fixture.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        let gone = await fixture.send(.delete, "/tables/t/a", headers: [("If-Match", first.etag ?? "")])
        #expect(gone.status == 204)
        #expect(gone.response.body.isEmpty)
        #expect(await fixture.send(.get, "/tables/t/a").status == 404)
        let tombstone = await fixture.send(.get, "/tables/t/a?__includeDeleted=true")
        #expect(tombstone.json["deleted"] == true)
        #expect(await fixture.send(.delete, "/tables/t/a").status == 404)
        #expect(await fixture.send(.patch, "/tables/t/a", #"{"x":2}"#).status == 404)
        let stale = await fixture.send(.post, "/tables/t/a", headers: [("If-Match", first.etag ?? "")])
        #expect(stale.status == 412)
        let back = await fixture.send(.post, "/tables/t/a", headers: [("If-Match", tombstone.etag ?? "")])
        #expect(back.status == 201)
        #expect(back.json["deleted"] == false)
        #expect(back.json["x"] == 1)
        #expect(Set([first.version, tombstone.version, back.version]).count == 3)
    }

    @Test("A hard delete leaves nothing, and its version is not used again") func hardDelete() async throws {
        let fixture = try await BackendFixture.empty(softDelete: false)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#)
        #expect(await fixture.send(.delete, "/tables/t/a").status == 204)
        #expect(await fixture.send(.get, "/tables/t/a?__includeDeleted=true").status == 404)
        #expect(await fixture.send(.post, "/tables/t/a").status == 404)
        #expect(await fixture.send(.post, "/tables/t", #"{"id":"a"}"#).version == "AAAAAAAAAAAAAAAD")
    }

    @Test("A conditional read answers 304 without a body") func conditionalRead() async throws {
        let fixture = try await BackendFixture.empty()
        let first = await fixture.send(.post, "/tables/t", #"{"id":"a"}"#)
        let etag = first.etag ?? ""
        for value in [etag, "*", "\"x\", \(etag)", "W/\(etag)"] {
            let answer = await fixture.send(.get, "/tables/t/a", headers: [("If-None-Match", value)])
            #expect(answer.status == 304)
            #expect(answer.response.body.isEmpty)
            #expect(answer.etag == etag)
        }
        #expect(await fixture.send(.get, "/tables/t/a", headers: [("If-None-Match", "\"x\"")]).status == 200)
    }
}
