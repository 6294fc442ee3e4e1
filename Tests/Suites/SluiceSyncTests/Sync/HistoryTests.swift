import Foundation
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Histories: random edits on two devices that crash, over a network that loses requests and answers")
struct HistoryTests {
    /// Every fifth, among which are all stores and policies; all 80 with `SLUICE_ALL_SEEDS`.
    private static let seeds = (1...80 as ClosedRange<UInt64>).filter {
        $0 % 5 == 1 || ProcessInfo.processInfo.environment["SLUICE_ALL_SEEDS"] != nil
    }

    @Test(
        "after the network heals all copies are equal and no edit has vanished",
        arguments: seeds)
    func history(_ seed: UInt64) async throws {
        var history = try await History(seed: seed)
        for _ in 0..<40 { try await history.step() }
        try await history.heal()
        try await history.check()
    }

    @Test(
        "nor where operations never merge, and are edited, resolved, made others and undone",
        arguments: seeds)
    func repairs(_ seed: UInt64) async throws {
        var history = try await History(seed: seed, repairs: true)
        for _ in 0..<40 { try await history.step() }
        try await history.heal()
        try await history.check()
    }
}
