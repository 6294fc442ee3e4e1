import Foundation
import HostileCases
import RepositoryFiles
import Testing

@Suite("The page on the hostile server") struct HostilePageTests {
    private static let page = URL(filePath: Repository.record("hostile-server.md"))
    private static let heading = "## The cases\n\n"

    @Test("its table has the cases that there are")
    func current() throws {
        let written = String(decoding: try Data(contentsOf: Self.page), as: UTF8.self)
        let start = try #require(written.firstRange(of: Self.heading))
        let text = String(written[..<start.upperBound]) + HostileCase.table
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_DOCS"] != nil {
            try Data(text.utf8).write(to: Self.page)
            return
        }
        let difference = zip(text.split(separator: "\n"), written.split(separator: "\n")).first { $0 != $1 }
        #expect(
            text == written, "hostile-server.md is out of date, from here on: \(String(describing: difference))")
    }
}
