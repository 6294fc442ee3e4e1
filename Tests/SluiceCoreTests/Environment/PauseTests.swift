import SluiceCore
import Testing

@Suite("A pause")
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

    @Test("that has ended is not ended again by a late cancellation")
    func late() async throws {
        let pause = Task { try await Pause.wait(for: .milliseconds(1)) }
        try await pause.value
        pause.cancel()
    }
}
