import Synchronization
import Testing

@testable import SluiceBackend

@Suite("What is called after each commit")
struct CommitActionTests {
    @Test("it is called from as high on the stack after ten thousand commits as after the first")
    func depth() throws {
        let places = Mutex<[Int]>([])
        let action = CommitAction()
        action.set {
            var here = 0
            withUnsafePointer(to: &here) { place in places.withLock { $0.append(Int(bitPattern: place)) } }
        }
        for _ in 0..<10_000 { action() }
        let found = places.withLock { $0 }
        try #require(found.count == 10_000)
        #expect(found[0] - found[9_999] < 1024)
    }
}
