import Foundation
import SluiceCore
import SluiceStores
import SluiceTestSupport
import Testing

@Suite("Which requests defining requests cover") struct CoverageTests {
    private static let agencies = TableSchema(
        "Agencies",
        columns: [
            .init("Country", .string), .init("Rank", .integer), .init("Since", .date), .init("Open", .boolean),
            .init("Size", .real),
        ],
        references: [
            .init("Bookings", toMany: "Bookings", where: "AgencyID"), .init("Owner", to: "People", by: "OwnerID"),
        ])
    private static let bookings = TableSchema(
        "Bookings", columns: [.init("AgencyID", .string), .init("Price", .real)],
        references: [.init("Agency", to: "Agencies", by: "AgencyID")])

    private static func coverage(_ request: String, by defining: [String], in table: String = "Agencies") throws
        -> Coverage
    {
        let requests = try defining.enumerated().map { index, text in
            let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let options = try ODataOptions(parts.count > 1 ? String(parts[1]) : "")
            return DefiningRequest("d\(index)", of: String(parts[0]), options)
        }
        let checker = CoverageChecker(requests, schemas: [agencies, bookings])
        return checker.coverage(of: try ODataOptions(request), in: table)
    }

    @Test(
        "what is asked for is within what one defining request gives",
        arguments: [
            ("", "Agencies"), ("$filter=Rank gt 3", "Agencies"),
            ("$filter=Country eq 'US' and Rank gt 3", "Agencies?$filter=Country eq 'US'"),
            ("$filter=Rank ge 4", "Agencies?$filter=Rank gt 3"), ("$filter=Rank gt 3", "Agencies?$filter=Rank ge 4"),
            ("$filter=Rank eq 5", "Agencies?$filter=Rank in (1,5)"),
            ("$filter=Rank in (1,2)", "Agencies?$filter=Rank lt 3"),
            ("$filter=startswith(Country,'US')", "Agencies?$filter=startswith(Country,'U')"),
            ("$filter=startswith(Country,'US')", "Agencies?$filter=Country ge 'US' and Country lt 'UT'"),
            ("$filter=Country eq 'Uganda'", "Agencies?$filter=startswith(Country,'U')"),
            ("$filter=Country gt 'a'", "Agencies?$filter=Country ne null"),
            ("$filter=Rank lt 3", "Agencies?$filter=not(Rank eq null)"),
            ("$filter=Rank eq 1 or Rank eq 2", "Agencies?$filter=Rank lt 5 or Country eq null"),
            ("$filter=not(Rank le 3 or Rank eq null)", "Agencies?$filter=Rank gt 3"),
            ("$filter=Since ge 2024-02-01", "Agencies?$filter=Since gt '2024-01-31T23:59:59Z'"),
            ("$filter=Open and Rank eq 1", "Agencies?$filter=Open"), ("$filter=Open eq true", "Agencies?$filter=Open"),
            ("$filter=5 lt Rank", "Agencies?$filter=Rank gt 4.5"),
            ("$filter=Size gt 2", "Agencies?$filter=Size gt 1.5"),
            ("$filter=contains(Country,'x') and Rank eq 1", "Agencies?$filter=contains(Country,'x')"),
            ("$filter=Rank gt 3&$select=Rank&$orderby=Rank&$top=5", "Agencies?$select=Rank,Country"),
            ("$filter=Rank gt 3 and Rank lt 4", "Agencies?$filter=Rank eq 100"),
            ("$orderby=Rank&$top=3", "Agencies?$orderby=Rank&$top=3"),
            ("$filter=year(Since) eq 2024", "Agencies?$filter=year(Since) in (2023,2024) or year(Since) eq 2024"),
            ("$select=id", "Agencies?$select=Rank"),
            ("$filter=startswith(Country,'U') eq true", "Agencies?$filter=startswith(Country,'U')"),
        ])
    func covered(_ request: String, _ defining: String) throws {
        let coverage = try Self.coverage(request, by: [defining])
        #expect(coverage.isCovered, "\(coverage)")
    }

    @Test(
        "what is asked for may be outside",
        arguments: [
            ("", "Bookings"), ("", "Agencies?$filter=Rank gt 3"), ("$filter=Rank ge 3", "Agencies?$filter=Rank gt 3"),
            ("$filter=not(Rank le 3)", "Agencies?$filter=Rank gt 3"),
            ("$filter=Size gt 3", "Agencies?$filter=Size ge 4"),
            ("$filter=Country eq 'CN'", "Agencies?$filter=Country eq 'US'"),
            ("$filter=startswith(Country,'U')", "Agencies?$filter=startswith(Country,'US')"),
            ("$filter=Country eq 'é'", "Agencies?$filter=Country eq 'e\u{301}'"),
            ("$filter=Rank eq null", "Agencies?$filter=Rank ne 3 and Country ne null"),
            ("$filter=Rank eq 1 or Country eq 'x'", "Agencies?$filter=Rank eq 1"),
            ("$select=Rank,Country", "Agencies?$select=Rank"), ("", "Agencies?$select=Rank"),
            ("$filter=Country eq 'US'&$select=Rank", "Agencies?$select=Rank"),
            ("$select=Rank&$orderby=Country", "Agencies?$select=Rank"), ("", "Agencies?$top=100"),
            ("$filter=contains(Country,'x')", "Agencies?$filter=contains(Country,'xy')"),
            ("$filter=Rank eq 1&$select=Country", "Agencies?$filter=Rank eq 1&$select=Country"),
            ("$search=a", "Agencies"), ("$apply=aggregate($count as N)", "Agencies"),
            ("$filter=Model.Near(x=1)", "Agencies"),
            ("$filter=Rank gt 1", "Agencies?$filter=Rank gt 0 and Since gt now()"),
        ])
    func uncovered(_ request: String, _ defining: String) throws {
        let coverage = try Self.coverage(request, by: [defining])
        #expect(!coverage.isCovered, "\(coverage)")
        guard case .uncovered(let reasons, _) = coverage else { return }
        #expect(!reasons.isEmpty)
    }

    @Test("several defining requests cover together what none does alone, and as few of them as need be are named")
    func union() throws {
        let defining = ["Agencies?$filter=Rank lt 3", "Agencies?$filter=Country eq 'x'", "Agencies?$filter=Rank ge 3"]
        guard case .covered(let names, let reasons) = try Self.coverage("$filter=Rank ne null", by: defining) else {
            Issue.record("not covered")
            return
        }
        #expect(names == ["d0", "d2"])
        #expect(reasons == ["every record where (Rank ne null) is in \"d0\" ((Rank lt 3)) or \"d2\" ((Rank ge 3))"])
        #expect(try !Self.coverage("", by: defining).isCovered)
        #expect(try Self.coverage("", by: defining + ["Agencies?$filter=Rank eq null"]).isCovered)
    }

    @Test("what is missing is told by an example")
    func example() throws {
        let coverage = try Self.coverage(
            "$filter=Country eq 'CN' and Rank gt 2", by: ["Agencies?$filter=Country eq 'US'"])
        #expect(
            coverage
                == .uncovered(
                    because: ["the defining requests leave some records out"],
                    example: "Country is 'CN' and Rank is more than 2"))
    }

    @Test(
        "expansions are covered by an expansion that holds them, or by the defining requests of their table",
        arguments: [
            ("$expand=Bookings", ["Agencies?$expand=Bookings"], true),
            ("$expand=Bookings($filter=Price gt 5)", ["Agencies?$expand=Bookings($filter=Price gt 1)"], true),
            ("$expand=Bookings($filter=Price gt 1)", ["Agencies?$expand=Bookings($filter=Price gt 5)"], false),
            ("$expand=Bookings($select=Price)", ["Agencies?$expand=Bookings($select=Price,AgencyID)"], true),
            ("$expand=Bookings", ["Agencies?$expand=Bookings($top=5)"], false),
            ("$expand=Bookings", ["Agencies"], false),
            ("$expand=Bookings", ["Agencies", "Bookings"], true),
            ("$expand=Bookings($filter=Price gt 5)", ["Agencies", "Bookings?$filter=Price gt 1"], true),
            ("$expand=Bookings($expand=Agency)", ["Agencies", "Bookings"], true),
            ("$expand=Bookings/$count", ["Agencies?$expand=Bookings"], true), ("$expand=Owner", ["Agencies"], false),
            ("$expand=Owner($levels=2)", ["Agencies?$expand=Owner($levels=3)"], true),
            ("$expand=Owner($levels=max)", ["Agencies?$expand=Owner($levels=3)"], false),
        ])
    func expansions(_ request: String, _ defining: [String], _ expected: Bool) throws {
        let coverage = try Self.coverage(request, by: defining)
        #expect(coverage.isCovered == expected, "\(coverage)")
    }

    @Test("a record that lacks a property is not taken for one that has null")
    func stray() throws {
        let defining = ["Agencies?$filter=Country eq null", "Agencies?$select=Rank&$filter=Rank lt 3"]
        #expect(try !Self.coverage("$filter=Country eq null", by: defining).isCovered)
        #expect(try Self.coverage("$filter=Country eq null and Rank gt 7", by: defining).isCovered)
        // Records that an expansion brings are among them.
        let expanded = ["Agencies?$filter=Country eq null", "Bookings?$expand=Agency($select=Rank)"]
        #expect(try !Self.coverage("$filter=Country eq null", by: expanded).isCovered)
    }

    @Test("a comparison that would take too many cases is not covered, and does not take long")
    func tooManyCases() throws {
        let terms = (0..<40).map { "(a\($0) eq 1 or b\($0) eq 1)" }.joined(separator: " and ")
        let time = try processorTime {
            let defining = ["Agencies?$filter=(\(terms)) and (c eq 1 or d eq 1)"]
            let coverage = try Self.coverage("$filter=\(terms)", by: defining)
            #expect(!coverage.isCovered)
        }
        #expect(time < .seconds(60))
    }

    /// 900 pairs; 102,000 with `SLUICE_ALL_SEEDS`.
    @Test("covered is never wrong, and is said of nine of ten that are", arguments: CoverageGenerator.Columns.allCases)
    func bruteForce(_ columns: CoverageGenerator.Columns) throws {
        let isAll = ProcessInfo.processInfo.environment["SLUICE_ALL_SEEDS"] != nil
        var generator = CoverageGenerator(seed: UInt64(columns.rawValue), columns)
        var (covered, same, found) = (0, 0, 0)
        for _ in 0..<(isAll ? 34_000 : 300) {
            let (request, defining) = generator.pair()
            let coverage = CoverageChecker(defining, schemas: [generator.schema]).coverage(of: request, in: "t")
            let store = try generator.store(defining)
            let isSame =
                try generator.answer(request, from: store) == generator.answer(request, from: generator.records)
            if coverage.isCovered {
                covered += 1
                try #require(isSame, "\(request.parameters) by \(defining.map(\.options.parameters)): \(coverage)")
            }
            // Without a page the records say by themselves whether all are there.
            var whole = request
            whole.top = nil
            guard isSame, !defining.contains(where: { $0.options.top != nil }) else { continue }
            let wanted = try generator.answer(whole, from: generator.records)
            guard try !wanted.isEmpty && wanted == generator.answer(whole, from: store) else { continue }
            same += 1
            if coverage.isCovered { found += 1 }
        }
        #expect(covered > (isAll ? 5000 : 50) && same > (isAll ? 5000 : 50))
        #expect(Double(found) >= 0.9 * Double(same), "\(found) of \(same)")
    }
}
