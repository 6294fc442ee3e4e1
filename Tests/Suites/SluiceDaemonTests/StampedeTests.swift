import Foundation
import RepositoryFiles
import SluiceBase
import SluiceCore
import Testing

@testable import SluiceDaemon
@testable import SluiceSync

/// 10,000 daemons lose their server and find it again: what reaches it when, by the schedule and the streams as they are.
@Suite struct StampedeTests {
    private static let clients = 10_000
    private static let schedule = SyncSchedule(
        interval: .seconds(300), maximumPause: .seconds(300), spread: .seconds(300))
    /// How long the server is watched after it is back, in seconds.
    private static let watched = 600

    /// The requests of each second after the server is back, which was away for so long.
    private static func requests(away: Duration, seed: UInt64) -> [Int] {
        var generator = SeededGenerator(seed: seed)
        var counts = [Int](repeating: 0, count: watched)
        let start = Timestamp(ticks: 0)
        let (lost, back) = (start.advanced(by: .seconds(900)), start.advanced(by: .seconds(900) + away))
        let end = back.advanced(by: .seconds(watched))
        for _ in 0..<clients {
            var now = start.advanced(by: .seconds(300) * Double.random(in: 0..<1, using: &generator))
            func random() -> Double { Double.random(in: 0..<1, using: &generator) }
            var machine = ScheduleMachine(schedule, now: now, random: random())
            // A run and a connection of the stream are a request each. Those that find no server do not reach it.
            func reaches(_ time: Timestamp) -> Bool { time < lost || time >= back }
            func count(_ time: Timestamp) {
                let second = (time.ticks - back.ticks) / Timestamp.ticksPerSecond
                if time >= back, second < watched { counts[Int(second)] += 1 }
            }
            var failures = 1
            var connects: Timestamp? = lost.advanced(
                by: ChangeFollower.pause(after: failures, spread: schedule.spread, random: random()))
            var effect = machine.pause(from: now)
            while now < end {
                guard case .wait(let pause) = effect else {
                    count(now)
                    let outcome = ScheduleMachine.Outcome(failed: !reaches(now))
                    effect = machine.handle(.finished(outcome), now: now, random: random())
                    continue
                }
                let due = now.advanced(by: pause)
                guard let time = connects, time <= due else {
                    now = due
                    effect = machine.handle(.due, now: now, random: random())
                    continue
                }
                now = time
                if reaches(now) {
                    count(now)
                    connects = nil
                    effect = machine.handle(.networkAvailable, now: now, random: random())
                } else {
                    failures += 1
                    connects = now.advanced(
                        by: ChangeFollower.pause(after: failures, spread: schedule.spread, random: random()))
                    effect = machine.pause(from: now)
                }
            }
        }
        return counts
    }

    /// Means of ten seconds, as a diagram of Mermaid's.
    private static func plot(_ lines: [[Int]]) -> String {
        let means = lines.map { line in
            stride(from: 0, to: line.count, by: 10).map { line[$0..<$0 + 10].reduce(0, +) / 10 }
        }
        let most = (means.flatMap(\.self).max() ?? 0) / 10 * 10 + 20
        return "```mermaid\nxychart-beta\n    x-axis \"seconds after the server is back\" 0 --> \(watched)\n"
            + "    y-axis \"requests a second\" 0 --> \(most)\n"
            + means.map { "    line [\($0.map(String.init).joined(separator: ", "))]\n" }.joined() + "```"
    }

    @Test("10,000 clients come back over the spread, and docs/scheduling.md shows how")
    func comeBack() throws {
        let long = Self.requests(away: .seconds(600), seed: 1)
        let short = Self.requests(away: .seconds(5), seed: 2)
        for counts in [long, short] {
            // Runs by the schedule, streams and the runs that follow on a stream: 33 a second each.
            #expect(counts.max() ?? 0 < 200, "\(counts)")
            // All are there again: each has connected, and has run.
            #expect(counts.reduce(0, +) > 2 * Self.clients)
        }
        let file = URL(fileURLWithPath: Repository.path("docs/scheduling.md"))
        let page = try String(contentsOf: file, encoding: .utf8)
        let (begin, end) = ("<!-- fleet -->\n", "\n<!-- /fleet -->")
        let from = try #require(page.range(of: begin)), to = try #require(page.range(of: end))
        let made = page[..<from.upperBound] + Self.plot([long, short]) + page[to.lowerBound...]
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_DOCS"] != nil {
            try String(made).write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(page == made, "make written-docs writes it")
        }
    }
}
