import Synchronization
import Testing

@testable import SluiceBackend

@Suite struct StreamTurnsTests {
    /// The stream that has a turn.
    private final class Counts: Sendable {
        private struct State {
            var now = 0
            var most = 0
            var all = 0
        }

        private let state = Mutex(State())

        func begin() {
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
                state.all += 1
            }
        }

        func end() { state.withLock { $0.now -= 1 } }

        var values: [Int] { state.withLock { [$0.now, $0.most, $0.all] } }
    }

    @Test("all have their turn, a few at a time", .timeLimit(.minutes(1)))
    func turns() async {
        let (turns, counts) = (StreamTurns(3), Counts())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask { @Sendable in
                    await turns.take {
                        counts.begin()
                        await Task.yield()
                        counts.end()
                    }
                }
            }
        }
        #expect(counts.values[0] == 0 && counts.values[1] <= 3 && counts.values[2] == 500)
    }
}
