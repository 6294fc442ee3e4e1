import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

@Suite("Lists") struct ListTests {
    @Test("248 movies come as pages of 100, 100 and 48") func pages() async throws {
        let fixture = try await BackendFixture.movies()
        var sizes: [Int] = []
        var ids: [String] = []
        var path: String? = "/tables/movies?$orderby=title"
        while let next = path {
            let answer = await fixture.send(.get, next)
            #expect(answer.status == 200)
            sizes.append(answer.ids.count)
            ids += answer.ids
            path = answer.next
        }
        #expect(sizes == [100, 100, 48])
        #expect(Set(ids).count == 248)
    }

    @Test("$top ends the pages, and the link says how much is left") func top() async throws {
        let fixture = try await BackendFixture.movies(pageSize: 25)
        var sizes: [Int] = []
        var path: String? = "/tables/movies?$top=60&x=a+b"
        while let next = path {
            let answer = await fixture.send(.get, next)
            sizes.append(answer.ids.count)
            path = answer.next
        }
        #expect(sizes == [25, 25, 10])
        let first = await fixture.send(.get, "/tables/movies?$top=60")
        #expect(first.header("Link") == "http://127.0.0.1:8080/tables/movies?$skip=25&$top=35; rel=next")
        #expect(await fixture.send(.get, "/tables/movies?$top=25").next == nil)
    }

    @Test("The count ignores $top and $skip") func count() async throws {
        let fixture = try await BackendFixture.movies()
        let answer = await fixture.send(
            .get, "/tables/movies?$filter=rating eq 'R'&$inlinecount=allpages&$top=3&$skip=2")
        #expect(answer.json["count"]?.int == 95)
        #expect(answer.ids.count == 3)
        let none = await fixture.send(.get, "/tables/movies?$inlinecount=allpages&$top=0")
        #expect(none.json == ["results": [], "count": 248])
        #expect(none.next == nil)
    }

    @Test(
        "Filters choose the rows that the servers of this family choose",
        arguments: [
            ("bestPictureWinner eq true", 38, ["id-001", "id-002", "id-007", "id-008", "id-011"]),
            ("bestPictureWinner ne false", 38, ["id-001", "id-002", "id-007", "id-008", "id-011"]),
            ("(year div 1000.5) eq 2", 6, ["id-012", "id-042", "id-061", "id-173", "id-194"]),
            ("((year div 1000.5) eq 2) and (rating eq 'R')", 2, ["id-061", "id-173"]),
            ("day(releaseDate) eq 1", 7, ["id-019", "id-048", "id-129", "id-131", "id-132"]),
            ("duration ge 60", 248, ["id-000", "id-001", "id-002", "id-003", "id-004"]),
            ("endswith(tolower(title), 'er')", 12, ["id-001", "id-052", "id-121", "id-130", "id-164"]),
            ("floor(duration div 60.0) eq 2", 120, ["id-000", "id-001", "id-003", "id-004", "id-006"]),
            (
                "bestPictureWinner eq true and ceiling(duration div 60.0) eq 2", 11,
                ["id-023", "id-024", "id-112", "id-135", "id-142"]
            ),
        ])
    func filters(filter: String, count: Int, first: [String]) async throws {
        let fixture = try await BackendFixture.movies()
        let answer = await fixture.send(.get, "/tables/movies?$inlinecount=allpages&$filter=\(filter)")
        #expect(answer.json["count"]?.int == Int64(count))
        #expect(Array(answer.ids.prefix(5)) == first)
    }

    @Test("$select gives only what it names; equal keys come by id") func selectAndOrder() async throws {
        let fixture = try await BackendFixture.movies()
        let answer = await fixture.send(.get, "/tables/movies?$select=id,year&$orderby=rating desc&$top=90")
        #expect(answer.json[0]?.names == ["id", "year"])
        #expect(answer.ids.prefix(74) == answer.ids.prefix(74).sorted()[...])
    }

    @Test(
        "A bad query is refused with the reason",
        arguments: [
            ("$filter=year ge", "$filter"), ("$filter=year ge 'x", "character"), ("$filter=title", ""),
            ("$filter=title add 1 eq 2", "number"), ("$orderby=", "$orderby"), ("$select=1x", "$select"),
            ("$top=x", "$top"), ("$top=-1", "$top"), ("$skip=-1", "$skip"), ("$skip=1.5", "$skip"),
            ("$skip=99999999999999999999", "$skip"), ("$top=129000", "128000"), ("$inlinecount=x", "$inlinecount"),
            ("$expand=a", "$expand"), ("$top=1&$top=2", "twice"), ("$filter=nofunction(year) eq 1", ""),
        ])
    func refused(query: String, reason: String) async throws {
        let fixture = try await BackendFixture.movies()
        let answer = await fixture.send(.get, "/tables/movies?\(query)")
        #expect(answer.status == 400)
        #expect(reason.isEmpty || answer.error.contains(reason), "\(answer.error)")
        #expect(!answer.error.isEmpty)
    }

    @Test("A parameter without $ is ignored") func plainParameter() async throws {
        let fixture = try await BackendFixture.movies()
        #expect(await fixture.send(.get, "/tables/movies?orderby=nothing&top=3").ids.count == 100)
    }

    @Test("Tombstones come only when asked for, whatever the case of the name") func tombstones() async throws {
        let fixture = try await BackendFixture.movies()
        #expect(await fixture.send(.delete, "/tables/movies/id-000").status == 204)
        #expect(await fixture.send(.get, "/tables/movies?$top=1").ids == ["id-001"])
        #expect(await fixture.send(.get, "/tables/movies?$top=1&__includedeleted=TRUE").ids == ["id-000"])
        #expect(await fixture.send(.get, "/tables/movies?$top=1&__includeDeleted=false").ids == ["id-001"])
    }

    @Test("A pull by updatedAt reads every row once") func pullByTime() async throws {
        let fixture = try await BackendFixture.movies(pageSize: 50)
        var seen: [String] = []
        var last = "1970-01-01T00:00:00.000Z"
        while true {
            let answer = await fixture.send(
                .get,
                "/tables/movies?$filter=updatedAt gt datetimeoffset'\(last)'&$orderby=updatedAt&__includeDeleted=true")
            guard let end = answer.json.elements?.last?["updatedAt"]?.string else { break }
            seen += answer.ids
            last = end
        }
        // Seeded rows are a millisecond apart, so that milliseconds tell them apart.
        #expect(seen.count == 248)
        #expect(Set(seen).count == 248)
        #expect(last < "2024-05-06T07:08:09.123Z")
    }
}
