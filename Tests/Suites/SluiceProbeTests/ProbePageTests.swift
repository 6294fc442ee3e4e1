import Foundation
import RepositoryFiles
import SluiceProbe
import Testing

@Suite("The page on the probe") struct ProbePageTests {
    private static let page = URL(filePath: Repository.path("docs/probe.md"))
    private static let heading = "## Every finding\n\n"

    private static var table: String {
        let rows = ProbeFinding.Code.allCases.map { code in
            let finding = ProbeFinding(code, "")
            let weight = finding.grade == .fault ? "FAULT" : "look"
            return "| `\(code.rawValue)` | \(weight) | \(finding.cost) | \(finding.server) | \(finding.sluice) |"
        }
        return "| code | | cost | at the server | Sluice |\n|---|---|---|---|---|\n" + rows.joined(separator: "\n")
            + "\n"
    }

    @Test("its table has the findings that there are") func current() throws {
        let written = String(decoding: try Data(contentsOf: Self.page), as: UTF8.self)
        let start = try #require(written.firstRange(of: Self.heading))
        let text = String(written[..<start.upperBound]) + Self.table
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_DOCS"] != nil {
            try Data(text.utf8).write(to: Self.page)
            return
        }
        #expect(text == written, "docs/probe.md is out of date: make written-docs")
    }
}
