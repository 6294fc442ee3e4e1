import HTTPTypes
import SluiceCore
import SluiceProbe
import SluiceTesting

/// Faults that show by reading.
extension ProbeCase {
    static let reading = answers + lists + pages + rows + times + tags + pulls

    private static let answers: [ProbeCase] = [
        ProbeCase(
            .webPage, "a login page", FaultyServer.refuse(200, "<html><body>Sign in</body></html>") { _ in true }),
        ProbeCase(.redirects, "a redirect", FaultyServer.refuse(302) { _ in true }),
        ProbeCase(.brokenAnswers, "half a page", FaultyServer.refuse(200, #"[{"id":"a""#) { _ in true }),
        ProbeCase(.failing, "500 for everything", FaultyServer.refuse(500) { _ in true }),
        ProbeCase(
            .errorBesideRows, "rows with an error beside them",
            FaultyServer.refuse(200, #"{"results":[{"id":"a","version":"1"}],"error":"timeout"}"#) { _ in true }),
        ProbeCase(
            .credentialsEchoed, "a refusal that repeats the token",
            FaultyServer.refuse(404, #"{"error":"no row for \#(token)"}"#) { $0.has("sluice-probe-none") }),
    ]

    private static let lists: [ProbeCase] = [
        ProbeCase(.orderIgnored, "rows as they were stored", prepare: { change($0) { $0.sorts = false } }),
        ProbeCase(.orderIgnored, "$orderby is refused", FaultyServer.refuse(400) { $0.has("$orderby") }),
        ProbeCase(.topIgnored, "$top is not looked at", FaultyServer.parameter("$top") { _ in nil }),
        ProbeCase(.skipRefused, "$skip is refused", FaultyServer.refuse(400) { $0.has("$skip") }),
        ProbeCase(.skipIgnored, "$skip is not looked at", FaultyServer.parameter("$skip") { _ in nil }),
        ProbeCase(.filterRefused, "$filter is refused", FaultyServer.refuse(400) { $0.has("$filter") }),
        ProbeCase(.filterIgnored, "$filter is not looked at", FaultyServer.parameter("$filter") { _ in nil }),
        ProbeCase(.filterMisses, "no row is found by its id", FaultyServer.refuse(200, "[]") { $0.has("(id eq") }),
        ProbeCase(.countMissing, "no count", FaultyServer.parameter("$inlinecount") { _ in nil }),
        ProbeCase(
            .countWrong, "one too many is counted",
            FaultyServer.answer { request, response in
                guard request.has("$inlinecount"), var json = try? response.body.json, let count = json["count"]?.int
                else { return }
                json["count"] = JSON(count + 1)
                response.body = MessageBody(json: json)
            }),
        ProbeCase(
            .deletedListed, "deleted rows in every list", prepare: { $0.softDelete("items", "row-12") },
            FaultyServer.request { request in
                guard request.target.hasPrefix("/tables/items?"), !request.has("__includeDeleted") else { return }
                request.head.path? += "&__includeDeleted=true"
            }),
        ProbeCase(
            .deletedRefused, "no list with deleted rows", FaultyServer.refuse(400) { $0.has("__includeDeleted") }),
        ProbeCase(
            .idsComparedOtherwise, "ids are compared in another order than they are sorted",
            FaultyServer.answer { request, response in
                if request.has("(id gt ") { response.changeList { Array($0.dropFirst()) } }
            }),
    ]

    private static let pages: [ProbeCase] = [
        ProbeCase(
            .pagesLimited, "a large $top is refused", FaultyServer.refuse(400) { $0.has("$top=1000") }),
        ProbeCase(.pagesFail, "a large $top fails", FaultyServer.refuse(500) { $0.has("$top=1000") }),
        ProbeCase(
            .pagesOverlap, "the second page begins with the first one's last row", pageSize: 10,
            FaultyServer.parameter("$skip") { text in Int(text).map { "\($0 > 2 ? $0 - 1 : $0)" } }),
        ProbeCase(
            .linksElsewhere, "a next link with the address behind the proxy", pageSize: 10,
            FaultyServer.answer { request, response in
                guard request.target.hasPrefix("/tables/items"), !request.isRecord(of: "items") else { return }
                response["Link"] = "http://10.0.0.7/tables/items?$skip=10; rel=next"
            }),
        ProbeCase(
            .linksCircle, "a next link to its own page", pageSize: 10,
            FaultyServer.answer { request, response in response["Link"] = "<\(request.head.path ?? "")>; rel=next" }),
        ProbeCase(
            .linksLost, "a next link without the table's path", pageSize: 10,
            FaultyServer.answer { _, response in response["Link"] = "http://model.test/?$skip=10; rel=next" }),
    ]

    private static let rows: [ProbeCase] = [
        ProbeCase(
            .rowsUnfit, "a time of change that is no time",
            FaultyServer.rows { if $0["id"] == "row-12" { $0["updatedAt"] = "yesterday" } }),
        ProbeCase(
            .rowsRepeated, "one row twice on a page",
            FaultyServer.answer { request, response in
                response.changeList { rows in rows.first.map { [$0] + rows } ?? [] }
            }),
        ProbeCase(
            .rowsMove, "another version with each reading",
            {
                let count = Counter()
                return FaultyServer.answer { _, response in
                    let number = count.next()
                    response.change { $0["version"] = JSON("r\(number)") }
                }
            }()),
        ProbeCase(
            .rowsUntimed, "a row without a time of change",
            FaultyServer.rows { if $0["id"] == "row-12" { $0["updatedAt"] = .null } }),
        ProbeCase(
            .idsTwins, "two ids that differ in case",
            prepare: { $0.seed("items", [["id": "ROW-12"], ["id": "Row-13"]]) }),
        ProbeCase(
            .idsTwins, "two ids that differ in normalisation",
            prepare: { $0.seed("items", [["id": "caf\u{e9}"], ["id": "cafe\u{301}"]]) }),
        ProbeCase(
            .namesTwins, "two properties that differ in normalisation",
            prepare: { $0.seed("items", [["id": "row-50", "caf\u{e9}": 1, "cafe\u{301}": 2]]) }),
        ProbeCase(
            .idsIntegers, "integer ids",
            FaultyServer.rows { row in
                if let number = row["id"]?.string?.suffix(2), let id = Int(number) { row["id"] = JSON(id) }
            }),
        ProbeCase(
            .idsFolded, "ids are compared without case",
            FaultyServer.request { request in
                if request.isRecord(of: "items") { request.head.path = request.head.path?.lowercased() }
            }),
        ProbeCase(
            .idsFolded, "ids are compared without case by an insert", writes: true,
            FaultyServer.request { request in
                if request.method == "POST" {
                    request.setBody { $0["id"] = $0["id"]?.string.map { JSON($0.lowercased()) } }
                }
            }),
        ProbeCase(
            .versionMissing, "rows without versions",
            FaultyServer.answer { _, response in
                response["ETag"] = nil
                response.change { $0["version"] = nil }
            }),
        ProbeCase(
            .lookupMissing, "no row is found at its address", FaultyServer.refuse(404) { $0.isRecord(of: "items") }),
        ProbeCase(
            .lookupDiffers, "a row has another version at its address",
            FaultyServer.rows(where: { $0.isRecord(of: "items") }) { $0["version"] = "other" }),
        ProbeCase(
            .missingFound, "a row for every address",
            FaultyServer.refuse(200, #"{"id":"sluice-probe-none","version":"1"}"#) { $0.has("/sluice-probe-none") }),
        ProbeCase(
            .missingFails, "500 where there is no row", FaultyServer.refuse(500) { $0.has("/sluice-probe-none") }),
    ]

    private static let times: [ProbeCase] = [
        ProbeCase(
            .tiesUnsorted, "rows of one time, the last made first", prepare: { change($0) { $0.sortsTiesByID = false } }
        ),
        ProbeCase(
            .tiesShuffled, "rows of one time in another order each time",
            {
                let count = Counter()
                return FaultyServer.answer { request, response in
                    guard request.has("$orderby=updatedAt") else { return }
                    let turn = count.next()
                    response.changeList { rows in
                        guard let first = rows.firstIndex(where: { $0["updatedAt"] == rows.first?["updatedAt"] }) else {
                            return rows
                        }
                        let end = rows.prefix { $0["updatedAt"] == rows[first]["updatedAt"] }.count
                        let shift = end > 0 ? turn % end : 0
                        return Array(rows[shift..<end] + rows[..<shift] + rows[end...])
                    }
                }
            }()),
        ProbeCase(
            .timesMisread, "times are written two hours later than they are read",
            FaultyServer.rows { row in
                guard let time = row["updatedAt"]?.string.flatMap({ Timestamp($0) }) else { return }
                row["updatedAt"] = JSON(
                    Timestamp(ticks: time.ticks + 7200 * Timestamp.ticksPerSecond).text(fractionDigits: 3))
            }),
        ProbeCase(
            .timesRounded, "times are compared finer than they are written",
            prepare: { model in
                model.restamp(
                    "items", (10..<40).map { RecordID("row-\($0)") },
                    at: Timestamp(ticks: FaultyServer.start.ticks - 1234))
            }),
        ProbeCase(
            .timesAhead, "a row of tomorrow",
            prepare: { model in
                model.restamp(
                    "items", ["row-39"],
                    at: Timestamp(ticks: FaultyServer.start.ticks + 86_400 * Timestamp.ticksPerSecond))
            }),
        ProbeCase(
            .timesZoneless, "times without a zone",
            FaultyServer.rows { row in
                if let text = row["updatedAt"]?.string { row["updatedAt"] = JSON(String(text.dropLast())) }
            }),
        ProbeCase(.clockMissing, "no Date", FaultyServer.answer { _, response in response["Date"] = nil }),
        ProbeCase(
            .clockAhead, "the web server's clock is ahead of the database's", writes: true,
            prepare: { $0.setDateAhead(by: .seconds(60)) }),
        ProbeCase(
            .clockSet, "the clock is set back while it is pulled",
            {
                let count = Counter()
                return FaultyServer.answer { request, response in
                    guard request.has("$orderby=updatedAt"), count.next() > 3 else { return }
                    response["Date"] = "Tue, 14 Nov 2023 20:00:00 GMT"
                }
            }()),
    ]

    private static let tags: [ProbeCase] = [
        ProbeCase(
            .tagsSuffixed, "-gzip at the end of the tag",
            FaultyServer.answer { _, response in
                response["ETag"] = response["ETag"].map { "\($0.dropLast())-gzip\"" }
            }),
        ProbeCase(
            .tagsWeak, "a weak tag",
            FaultyServer.answer { _, response in response["ETag"] = response["ETag"].map { "W/\($0)" } }),
        ProbeCase(
            .tagsDiffer, "a tag of its own",
            FaultyServer.answer { _, response in response["ETag"] = response["ETag"].map { _ in "\"5d8c72a5\"" } }),
        ProbeCase(
            .tagsList, "a list of tags",
            FaultyServer.answer { _, response in response["ETag"] = response["ETag"].map { "\($0), \"other\"" } }),
    ]

    private static let pulls: [ProbeCase] = [
        ProbeCase(
            .pullFails, "one change token for ever", prepare: { change($0) { $0.issuesChangeTokens = true } },
            FaultyServer.request { request in
                request.change("$deltatoken") { _ in "t1.0" }
            }),
        ProbeCase(
            .pullNeverSettles, "rows of a pull have another version each time",
            {
                let count = Counter()
                return FaultyServer.answer { request, response in
                    guard request.has("(updatedAt g"), !request.has("$select") else { return }
                    let number = count.next()
                    response.change { $0["version"] = JSON("r\(number)") }
                }
            }()),
        ProbeCase(
            .reconcileDiffers, "lists of some properties have other versions",
            FaultyServer.rows(where: { $0.has("$select") }) { $0["version"] = "short" }),
    ]
}
