import HTTPTypes
import SluiceCore

@testable import SluiceBackend

/// Backends with the tables that the rows of `odata-cases.jsonl` ask, one for each generation.
struct ODataServers {
    private let toolkit: BackendFixture
    private let version6: BackendFixture

    init() async throws {
        let movies = try ODataCase.movies(v6: false)
        toolkit = try await BackendFixture(
            .init("movies", seed: .records(movies), softDelete: false),
            .init("pagedmovies", seed: .records(movies), pageSize: 25, softDelete: false),
            .init("softmovies", seed: .records(movies)),
            .init(
                "kitchensink",
                seed: .records(ODataCase.days(prefix: "id-", date: "dateOnlyValue", time: "timeOnlyValue"))))
        let movies6 = try ODataCase.movies(v6: true)
        let rated = try QueryExpression(odata: "rating eq 'R'")
        version6 = try await BackendFixture(
            tables: [
                .init("movies", seed: .records(movies6), softDelete: false),
                .init("movies_pagesize", seed: .records(movies6), pageSize: 25, softDelete: false),
                .init(
                    "movies_rated", seed: .records(movies6), softDelete: false, access: .authenticated, view: rated),
                .init(
                    "movies_legal", seed: .records(movies6), softDelete: false, access: .authenticated,
                    unauthorizedStatus: 451, view: rated),
                .init("soft", seed: .records(movies6)),
                .init("datetime", seed: .records(ODataCase.days(prefix: "dtm-", date: "dateOnly", time: "timeOnly"))),
            ], authentication: .init(secret: .text(TestToken.secret)))
        for (fixture, table) in [(toolkit, "softmovies"), (version6, "soft")] {
            for movie in movies where movie["rating"]?.string == "R" {
                _ = await fixture.send(.delete, "/tables/\(table)/\(movie["id"]?.string ?? "")", version: "2.0.0")
            }
        }
    }

    /// The answer to a row's query.
    func answer(_ row: ODataCase) async -> Answer {
        await get("/tables/\(row.table)\(row.query.isEmpty ? "" : "?\(row.encodedQuery)")", row)
    }

    /// The page after another one; nil after the last.
    func next(after answer: Answer, _ row: ODataCase) async -> Answer? {
        guard let link = answer.json["nextLink"]?.string else { return nil }
        let isQuery = row.source == "CT"
        return await get(isQuery ? "/tables/\(row.table)?\(link)" : String(link.dropFirst(Self.origin.count)), row)
    }

    /// Where the next page is, as the rows have it: percent-decoded, and without scheme and host.
    func nextLink(_ answer: Answer, _ row: ODataCase) -> String? {
        guard let link = answer.json["nextLink"]?.string else { return nil }
        let decoded = PercentEncoding.decoded(link)
        guard row.source != "CT" else { return decoded }
        return decoded.hasPrefix(Self.origin + "/") ? String(decoded.dropFirst(Self.origin.count + 1)) : decoded
    }

    private static let origin = "http://127.0.0.1:8080"

    /// The status for someone without a token.
    func statusForStrangers(_ table: String) async -> Int {
        await version6.send(.get, "/tables/\(table)", version: "3.0.0").status
    }

    private func get(_ path: String, _ row: ODataCase) async -> Answer {
        let isToolkit = row.source == "CT"
        let note = row.row["note"]?.string ?? ""
        var headers: [(String, String)] = []
        if note.contains("include:deleted") { headers.append(("X-ZUMO-Options", "include:deleted")) }
        if note.contains("authenticated"), let token = try? await TestToken.user("alice") {
            headers.append(("X-ZUMO-AUTH", token))
        }
        return await (isToolkit ? toolkit : version6).send(
            .get, path, headers: headers, version: isToolkit ? nil : "3.0.0")
    }
}
