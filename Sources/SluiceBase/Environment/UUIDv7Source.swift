internal import Synchronization

/// Makes UUIDs of version 7 (RFC 9562, section 5.7): milliseconds first, so that new rows land at an index's end, then
/// a counter that keeps ids of one millisecond in order (section 6.2, method 1), then random bits.
final class UUIDv7Source: Sendable {
    private struct State {
        var milliseconds: UInt64 = 0
        var counter: UInt16 = 0
    }
    private let state = Mutex(State())

    package init() {}

    /// A new id, larger than every one this source has made before.
    package func next(at time: Timestamp) -> String {
        var generator = SystemRandomNumberGenerator()
        return next(at: time, using: &generator)
    }

    package func next(at time: Timestamp, using generator: inout some RandomNumberGenerator) -> String {
        let now = UInt64(max(0, time.ticks / 10_000)) & 0xFFFF_FFFF_FFFF
        let fresh = UInt16.random(in: 0..<0x800, using: &generator)
        let (milliseconds, counter) = state.withLock { state in
            if now > state.milliseconds {
                state.milliseconds = now
                state.counter = fresh
            } else if state.counter < 0xFFF {
                state.counter += 1
            } else {
                // The counter is used up, or the clock went back: run ahead of the clock.
                state.milliseconds += 1
                state.counter = 0
            }
            return (state.milliseconds, state.counter)
        }
        let high = milliseconds << 16 | 0x7000 | UInt64(counter)
        let low = UInt64.random(in: .min ... .max, using: &generator) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return Self.text(high, low)
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let digit = UInt8((index < 16 ? high : low) >> UInt64(60 - index % 16 * 4) & 0xF)
                text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                place += 1
            }
            return place
        }
    }
}
