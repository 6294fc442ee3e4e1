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
        state.withLock { state in
            var hash = state.hash
            func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            name.withUTF8Buffer { $0.forEach(add) }
            detail.utf8.forEach(add)
            hash = (hash ^ UInt64(bitPattern: Int64(number))) &* 0x100_0000_01B3
            state.hash = hash
            if isKept { state.lines.append(line) }
        }
    }
}
