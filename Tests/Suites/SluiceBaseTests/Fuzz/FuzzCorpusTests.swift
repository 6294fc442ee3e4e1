import Foundation
import RepositoryFiles
import SluiceTestSupport
import Testing

@Suite("Foreign text of any content")
struct FuzzCorpusTests {
    @Test("whatever was once found by fuzzing holds", arguments: FuzzTarget.allCases)
    func corpus(_ target: FuzzTarget) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: URL(filePath: Repository.fixture("fuzz/\(target.rawValue)")), includingPropertiesForKeys: nil)
        #expect(files.count > 10)
        for file in files {
            let input = Array(try Data(contentsOf: file))
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try target.check(input) }
        }
    }
}
