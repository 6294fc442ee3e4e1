import Foundation
import SluiceTestSupport
import Testing

@Suite("Foreign text of any content")
struct FuzzCorpusTests {
    @Test("whatever was once found by fuzzing holds", arguments: FuzzTarget.allCases)
    func corpus(_ target: FuzzTarget) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let files = try FileManager.default.contentsOfDirectory(
            at: tests.appending(path: "Fixtures/fuzz/\(target.rawValue)"), includingPropertiesForKeys: nil)
        #expect(files.count > 10)
        for file in files {
            let input = Array(try Data(contentsOf: file))
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try target.check(input) }
        }
    }
}
