import Foundation
import SluiceCore
import Testing

/// What the servers of two generations answer to queries over their own 248 movies (Tests/Fixtures).
@Suite("The servers' own queries") struct MovieQueryTests {
    private static func fixture(_ name: String) throws -> Data {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try Data(contentsOf: tests.appending(path: "Fixtures/\(name)"))
    }

    private static let schema = TableSchema(
        "movies",
        columns: [
            .init("title", .string), .init("year", .integer), .init("duration", .integer), .init("rating", .string),
            .init("releaseDate", .date), .init("bestPictureWinner", .boolean),
        ])

    @Test("the answers have the same records in the same order", arguments: [true, false])
    func answers(_ declared: Bool) throws {
        let movies = try #require(JSON(parsing: Self.fixture("movies.json"))["movies"]?.elements)
        // Version 6 has null where the toolkit has an enumeration's "Unrated".
        let movies6 = movies.map { movie in
            var movie = movie
            movie["rating"] = movie["ratingV6"]
            return movie
        }
        let lines = try Self.fixture("movie-queries.jsonl").split(separator: UInt8(ascii: "\n"))
        #expect(lines.count > 60)
        for line in lines {
            let expected = try JSON(parsing: line)
            var query = Query("movies")
            query.filter = try expected["filter"]?.string.map { text throws in try QueryExpression(odata: text) }
            query.order = try expected["order"]?.string.map { text throws in try Query.order(odata: text) } ?? []
            let evaluator = try QueryEvaluator(query, schema: declared ? Self.schema : nil)
            let answer = evaluator.apply(to: expected["style"]?.string == "v6" ? movies6 : movies)
            let first = try #require(expected["first"]?.elements)
            #expect(answer.prefix(first.count).map { $0["id"] } == first, "\(expected)")
            if let total = expected["total"]?.int { #expect(answer.count == total, "\(expected)") }
        }
    }
}
