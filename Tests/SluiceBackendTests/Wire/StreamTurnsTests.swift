import Synchronization
import Testing

@testable import SluiceBackend

@Suite struct StreamTurnsTests {
    @Test("all have their turn, a few at a time", .timeLimit(.minutes(1)))
    func turns() async {
        let turns = StreamTurns(3)
        let counts = Mutex((now: 0, most: 0, all: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask {
                    await turns.take {
                        counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
                        await Task.yield()
                        counts.withLock { $0.now -= 1 }
                    }
                }
            }
        }
        let (now, most, all) = counts.withLock { $0 }
        #expect(now == 0 && most <= 3 && all == 500)
    }
}
