import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// Two users ask over all routes for what they may and may not see. No answer holds the other's data, and none depends on
/// it: in a second world, where the other has other values, each answer to the first is the same byte for byte.
@Suite struct LeakTests {
    /// 600 requests, 20,000 with `SLUICE_ALL_SEEDS`; as many again in the second worlds.
    static let seeds: [UInt64] = {
        let isAll = ProcessInfo.processInfo.environment["SLUICE_ALL_SEEDS"] != nil
        return Array(1...(isAll ? 40 : 2))
    }()
    static let requests = ProcessInfo.processInfo.environment["SLUICE_ALL_SEEDS"] != nil ? 500 : 300

    @Test("no answer holds another's data, or depends on it", arguments: seeds)
    func answers(seed: UInt64) async throws {
        let observer: LeakUser = seed % 2 == 0 ? .ann : .bob
        var first = try await LeakPlay(LeakMarks(observer: observer, isSecond: false), seed: seed)
        var second = try await LeakPlay(LeakMarks(observer: observer, isSecond: true), seed: seed)
        var successes = 0
        for number in 0..<Self.requests {
            let memories = first.memories
            let step = try await first.step(knowing: memories)
            let twin = try await second.step(knowing: memories)
            let place = "seed \(seed), request \(number), \(step.user): \(step.asked)"
            try #require(step.user == twin.user)
            for step in [step, twin] {
                try #require(step.finding == nil, "\(place)\n\(step.finding ?? "")\n\(step.answer)")
            }
            if step.user == observer, !step.isFailedGroup {
                try #require(step.answer == twin.answer, "\(place)")
            } else if !step.asked.hasPrefix("GET") {
                // Else the two worlds would have gone different ways.
                try #require(step.status == twin.status, "\(place)\n\(twin.asked)\n\(step.answer)\n\(twin.answer)")
            }
            if step.status < 300 { successes += 1 }
            if number % 50 == 49 { try await compareCounts(first) }
        }
        #expect(successes > Self.requests / 3, "requests that are refused are no test")
    }

    private func compareCounts(_ play: LeakPlay) async throws {
        for table in ["notes", "customers", "orders", "kept"] {
            for user in [LeakUser.ann, .bob] {
                let counts = await play.counts(table, of: user)
                try #require(Set(counts.values).count == 1, "\(table) of \(user): \(counts)")
            }
        }
    }

    @Test("the watch finds a mark as it is, in upper case, within base64, and a version")
    func watch() throws {
        let marks = LeakMarks(observer: .ann, isSecond: false)
        var watch = LeakWatch(marks)
        let mark = marks.mark(.bob)
        for text in [mark, mark.uppercased(), String(mark.reversed())] {
            #expect(watch.finding(in: "x\(text)y", to: .ann, asking: "") != nil)
            #expect(watch.finding(in: "x\(text)y", to: .bob, asking: "") == nil)
        }
        for before in ["", "a", "ab", "abc"] {
            for after in ["", "x", "xy"] {
                let text = Data((before + mark + after).utf8).base64EncodedString()
                #expect(watch.finding(in: text, to: .ann, asking: "") != nil, "\(before) \(after)")
            }
        }
        #expect(watch.finding(in: LeakMarks.name(.bob), to: .ann, asking: "") != nil)
        #expect(watch.finding(in: LeakMarks.name(.bob), to: .ann, asking: "owner eq '\(LeakMarks.name(.bob))'") == nil)
        var response = SyncResponse(HTTPResponse(status: .ok))
        response.head.headerFields[.eTag] = "\"AAAAAAAAAAAAAAAC\""
        watch.learn(Answer(response), to: .bob)
        #expect(watch.finding(in: #"{"version":"AAAAAAAAAAAAAAAC"}"#, to: .ann, asking: "") != nil)
        #expect(watch.finding(in: #"{"version":"AAAAAAAAAAAAAAAC"}"#, to: .bob, asking: "") == nil)
    }
}
