internal import SluiceCore

extension HostileCase {
    /// Answers that take too long: each ends at the deadline or for its rate, and what was to be sent waits.
    static var time: [HostileCase] { silences + drips + ofChanges }

    /// A client whose exchanges end after 0.4 s, or when less than 1000 bytes a second have come after 0.1 s.
    private static func limits(deadline: Duration = .milliseconds(400), rate: Int = 0) -> HostileLimits {
        HostileLimits(
            exchange: SyncRequest.Limits(deadline: deadline, minimumRate: rate, grace: .milliseconds(100)),
            requests: 4,
            duration: .seconds(10))
    }

    private static func slow(_ name: String, _ call: HostileCall, _ outcome: HostileOutcome, _ acts: [HostileAct])
        -> HostileCase
    {
        HostileCase(.time, name, call, outcome, limits: limits(), answer: always(acts))
    }

    private static func slow(_ name: String, _ acts: [HostileAct]) -> HostileCase {
        slow(name, .pull, .fails(.timeout), acts)
    }

    private static let head = HostileAct.text("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    private static let chunked = HostileAct.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

    private static var silences: [HostileCase] {
        [
            slow("silence", [.hold]), slow("silence within the head", [.text("HTTP/1.1 200 OK\r\nConte"), .hold]),
            slow("silence after the head", [head, .hold]),
            slow("silence within the body", [head, .text("[{"), .hold]),
            slow("silence after a chunk", [chunked, .text("2\r\n[]\r\n"), .hold]),
            slow("silence within a chunk", [chunked, .text("20\r\n[]"), .hold]),
            slow("silence after the last chunk", [chunked, .text("2\r\n[]\r\n0\r\n"), .hold]),
            slow("a body without a length that never ends", [.text("HTTP/1.1 200 OK\r\n\r\n[]"), .hold]),
            slow("100 Continue and nothing more", [.text("HTTP/1.1 100 Continue\r\n\r\n"), .hold]),
            slow("silence", .lookup, .fails(.timeout), [.hold]),
            slow("silence", .pages, .fails(.timeout), [.hold]),
            HostileCase(
                .time, "silence on a connection that has answered", .pull,
                HostileOutcome(error: .timeout, rows: ["a", "b", "x"], cursor: .at(HostileRows.time)),
                limits: limits()
            ) { $0.number == 1 ? [.json(200, HostileRows.one)] : [.hold] },
        ]
    }

    private static var drips: [HostileCase] {
        let bytes = Array(repeating: UInt8(ascii: " "), count: 1000)
        let every = Duration.milliseconds(20)
        return [
            slow("a head that drips", [.drip(Array("HTTP/1.1 200 OK\r\nX-A: ".utf8) + bytes, every: every)]),
            slow(
                "header fields that drip",
                [
                    .text("HTTP/1.1 200 OK\r\n"),
                    .drip(Array(String(repeating: "X-A: b\r\n", count: 100).utf8), every: every),
                ]),
            slow("a body that drips", [head, .drip(bytes, every: every)]),
            slow(
                "chunks that drip",
                [chunked] + Array(repeating: [.text("1\r\n \r\n"), .pause(every)], count: 500).flatMap { $0 }),
            slow(
                "100 Continue, again and again",
                Array(repeating: [.text("HTTP/1.1 100 Continue\r\n\r\n"), .pause(every)], count: 500).flatMap { $0 }),
            HostileCase(
                .time, "a body slower than the slowest rate", .pull, .fails(.timeout),
                limits: limits(deadline: .seconds(60), rate: 1000), answer: always([head, .drip(bytes, every: every)])),
            HostileCase(
                .time, "gzip slower than the slowest rate", .pull, .fails(.timeout),
                limits: limits(deadline: .seconds(60), rate: 1000),
                answer: always([
                    .text("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n"),
                    .drip(PackedBytes.stored(bytes), every: every),
                ])),
            HostileCase(
                .time, "a body at a good rate, in small pieces", .pull, HostileRows.brought,
                limits: limits(deadline: .seconds(60), rate: 10),
                answer: once([
                    .text("HTTP/1.1 200 OK\r\nContent-Length: \(HostileRows.one.utf8.count)\r\n\r\n"),
                    .drip(Array(HostileRows.one.utf8), every: .milliseconds(2)),
                ])),
        ]
    }

    private static var ofChanges: [HostileCase] {
        [HostileCall.insert, .update, .delete].flatMap { call in
            [
                slow("silence", call, .waits(.timeout, ends: .timeout), [.hold]),
                slow("silence within the body", call, .waits(.timeout, ends: .timeout), [head, .text("{"), .hold]),
            ]
        }
    }
}
