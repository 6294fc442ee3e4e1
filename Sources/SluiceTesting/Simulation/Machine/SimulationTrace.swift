internal import Synchronization

/// What happened, in order: a hash always, the lines only where someone wants to read them.
final class SimulationTrace: Sendable {
    private struct State {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var lines: [String] = []
    }

    private let state = Mutex(State())
    let isKept: Bool

    init(isKept: Bool) { self.isKept = isKept }

    var hash: UInt64 { state.withLock { $0.hash } }
    var lines: [String] { state.withLock { $0.lines } }

    /// Notes that something happened: its name and what tells it from others go into the hash.
    func note(_ name: StaticString, _ detail: String = "", _ number: Int = 0, line: @autoclosure () -> String) {
        let line = isKept ? line() : ""
        let isKept = isKept
        var detail = detail
        state.withLock { state in
            let named = name.withUTF8Buffer { Self.add($0, to: state.hash) }
            let told = detail.withUTF8 { Self.add($0, to: named) }
            state.hash = Self.add(UInt64(bitPattern: Int64(number)), to: told)
            if isKept { state.lines.append(line) }
        }
    }

    /// FNV-1a, of Fowler, Noll and Vo.
    private static func add(_ bytes: UnsafeBufferPointer<UInt8>, to hash: UInt64) -> UInt64 {
        var hash = hash
        for byte in bytes { hash = add(UInt64(byte), to: hash) }
        return hash
    }

    private static func add(_ value: UInt64, to hash: UInt64) -> UInt64 { (hash ^ value) &* 0x100_0000_01B3 }
}
