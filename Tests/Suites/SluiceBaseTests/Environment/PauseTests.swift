import SluiceCore
import Testing

// The limit tells what never ends. It is long because other tests may hold all threads of the pool for a while.
@Suite("A pause", .timeLimit(.minutes(5)))
struct PauseTests {
    @Test("is over no sooner than it is told", arguments: [-5, 0, 30])
    func length(milliseconds: Int) async throws {
        let begun = ContinuousClock.now
        try await Pause.wait(for: .milliseconds(milliseconds))
        #expect(ContinuousClock.now - begun >= .milliseconds(milliseconds))
    }

    @Test("ends at once when its task is cancelled, before and after it has begun", arguments: [0, 20])
    func cancelled(milliseconds: Int) async throws {
        let pauses = (0..<100).map { number in
            Task { try await Pause.wait(for: number.isMultiple(of: 2) ? .seconds(3600) : .seconds(Int64.max)) }
        }
        if milliseconds > 0 { try await Task.sleep(for: .milliseconds(milliseconds)) }
        for pause in pauses { pause.cancel() }
        for pause in pauses { await #expect(throws: CancellationError.self) { try await pause.value } }
    }

    @Test("is held up by no longer one, whichever began first, and by none that was cancelled")
    func order() async throws {
        let cancelled = Task { try await Pause.wait(for: .seconds(3600)) }
        let longest = Task { try await Pause.wait(for: .seconds(3600)) }
        cancelled.cancel()
        let ended = await withTaskGroup(of: Int.self) { group in
            for milliseconds in [120, 80, 40, 160] {
                group.addTask {
                    try? await Pause.wait(for: .milliseconds(milliseconds))
                    return milliseconds
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(ended) == [40, 80, 120, 160])
        longest.cancel()
        await #expect(throws: CancellationError.self) { try await longest.value }
    }

    @Test("ends once where it is cancelled in the moment in which it is over")
    func race() async throws {
        for _ in 0..<300 {
            let pause = Task { try await Pause.wait(for: .milliseconds(1)) }
            try await Task.sleep(for: .milliseconds(1))
            pause.cancel()
            _ = await pause.result
        }
    }
}
