import Foundation
import RepositoryFiles
import SluiceCore
import Testing

/// A row of `odata-cases.jsonl`: what a server of the family answers to a query.
struct ODataCase: Sendable, CustomTestStringConvertible {
    let row: JSON
    let number: Int

    var source: String { row["src"]?.string ?? "" }
    var kind: String { row["kind"]?.string ?? "" }
    var query: String { row["query"]?.string ?? "" }
    /// The table's name, without the path before it.
    var table: String {
        let endpoint = row["endpoint"]?.string ?? ""
        return endpoint.hasPrefix("tables/") ? String(endpoint.dropFirst("tables/".count)) : endpoint
    }
    var testDescription: String { "line \(number): \(source) \(table)?\(query)" }

    /// The query as it goes over the wire.
    var encodedQuery: String {
        query.split(separator: "&").map { part in
            let sides = part.split(separator: "=", maxSplits: 1).map { PercentEncoding.query(String($0)) }
            return sides.joined(separator: "=")
        }.joined(separator: "&")
    }

    /// The query as an application asks it of its own store.
    func localQuery(_ table: String) throws -> TableQuery {
        var local = TableQuery(table)
        for part in query.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { continue }
            switch sides[0] {
            case "$filter": local.filter = try QueryExpression(odata: sides[1])
            case "$orderby": local.order = try TableQuery.order(odata: sides[1])
            case "$top": local.top = Int(sides[1])
            case "$skip": local.skip = Int(sides[1]) ?? 0
            case "$count": local.includesCount = true
            default: break
            }
        }
        return local
    }

    /// All rows of those kinds.
    static func all(_ kinds: String...) -> [ODataCase] {
        let url = URL(fileURLWithPath: Repository.fixture("odata-cases.jsonl"))
        let lines = ((try? String(contentsOf: url, encoding: .utf8)) ?? "").split(separator: "\n")
        return lines.enumerated().compactMap { index, line in
            guard let row = try? JSON(parsing: Array(line.utf8)) else { return nil }
            let found = ODataCase(row: row, number: index + 1)
            return kinds.contains(found.kind) ? found : nil
        }
    }

    /// The movies; `v6`: as that generation's tests have them.
    static func movies(v6: Bool) throws -> [JSON] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: Repository.fixture("movies.json")))
        return (try JSON(parsing: Array(bytes))["movies"]?.elements ?? []).map { movie in
            var movie = movie
            if v6 {
                movie["rating"] = movie["ratingV6"]
                movie["releaseDate"] = movie["releaseDate"]?.string.map { JSON("\($0)T00:00:00.000Z") }
            }
            movie["ratingV6"] = nil
            return movie
        }
    }

    /// A row for every day of 2022, with the month and the day as a time.
    static func days(prefix: String, date: String, time: String) -> [JSON] {
        let first = Timestamp("2022-01-01T00:00:00Z") ?? Timestamp(ticks: 0)
        return (0..<365).map { number in
            let day = Timestamp(ticks: first.ticks + Int64(number) * 86_400 * Timestamp.ticksPerSecond)
            let text = day.text(fractionDigits: 0)
            let digits = String(number)
            return JSON(members: [
                ("id", JSON(prefix + String(repeating: "0", count: 3 - digits.count) + digits)),
                (date, JSON(String(text.prefix(10)))),
                (time, JSON("\(text.dropFirst(5).prefix(2)):\(text.dropFirst(8).prefix(2)):00")),
            ])
        }
    }
}
