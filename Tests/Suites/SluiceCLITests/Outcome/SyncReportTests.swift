import Sluice
import Testing

@testable import SluiceCLI

@Suite struct SyncReportTests {
    @Test("a pull says what is new: not the rows that came again as they are here")
    func pull() {
        func words(_ stored: Int, _ unchanged: Int, _ deleted: Int = 0) -> String {
            var result = PullResult()
            (result.stored, result.unchanged, result.deleted) = (stored, unchanged, deleted)
            return SyncReport.text(result, "notes")
        }
        #expect(words(1, 1) == "pull notes: nothing new")
        #expect(words(0, 0) == "pull notes: nothing new")
        #expect(words(3, 2) == "pull notes: 1 row stored")
        #expect(words(2001, 0, 1) == "pull notes: 2,001 rows stored, 1 row removed")
        #expect(words(1, 1, 2) == "pull notes: 2 rows removed")
    }
}
