import Foundation
import RepositoryFiles
import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("The page on conformance") struct ConformancePageTests {
    private static let page = URL(filePath: Repository.record("conformance.md"))

    @Test("it says what the verdicts say")
    func current() throws {
        let text = ConformancePage(try SyncCases.load().cases).text
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_DOCS"] != nil {
            try Data(text.utf8).write(to: Self.page)
        }
        let written = String(decoding: try Data(contentsOf: Self.page), as: UTF8.self)
        let difference = zip(text.split(separator: "\n"), written.split(separator: "\n")).first { $0 != $1 }
        #expect(text == written, "conformance.md is out of date, from here on: \(String(describing: difference))")
    }

    @Test("its links lead to headings that exist")
    func links() throws {
        let targets = Set(try SyncCases.load().cases.compactMap(\.see))
        #expect(targets.count > 3)
        for target in targets {
            let parts = target.split(separator: "#").map(String.init)
            let file = URL(filePath: Repository.path("docs/\(parts[0])"))
            let headings = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
                .filter { $0.hasPrefix("#") }
                .map { $0.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-") }
            #expect(parts.count == 1 || headings.contains(parts[1]), "\(target)")
        }
    }
}
