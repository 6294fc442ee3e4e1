import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Histories: random edits on two devices that crash, over a network that loses requests and answers")
struct HistoryTests {
    @Test(
        "after the network heals all copies are equal and no edit has vanished",
        arguments: 1...80 as ClosedRange<UInt64>)
    func history(_ seed: UInt64) async throws {
        var history = try await History(seed: seed)
        for _ in 0..<40 { try await history.step() }
        try await history.heal()
        try await history.check()
    }

    @Test(
        "nor where operations never merge, and are edited, resolved, made others and undone",
        arguments: 1...80 as ClosedRange<UInt64>)
    func repairs(_ seed: UInt64) async throws {
        var history = try await History(seed: seed, repairs: true)
        for _ in 0..<40 { try await history.step() }
        try await history.heal()
        try await history.check()
    }
}
