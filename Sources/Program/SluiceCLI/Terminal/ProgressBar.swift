internal import Synchronization

/// A bar on standard error that shows the progress of long work: only on a terminal, and gone when the work is done.
///
/// ```
/// pull movies  [############............]  50%  50,000 of 100,000 rows  41,200/s
/// ```
final class ProgressBar: Sendable {
    private struct State {
        var done = 0
        var total: Int?
        var drawnAt: ContinuousClock.Instant?
    }

    private let label: String
    private let noun: String
    private let isShown: Bool
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// Creates a bar.
    ///
    /// - Parameters:
    ///   - label: the name of the work.
    ///   - total: the total amount, if it is known.
    ///   - noun: the counted thing, in the singular.
    ///   - isShown: false if there is no terminal.
    init(_ label: String, total: Int? = nil, noun: String = "row", isShown: Bool = StandardStream.error.isTerminal) {
        self.label = label
        state = Mutex(State(total: total))
        self.noun = noun
        self.isShown = isShown
    }

    /// Shows the amount done, and the total amount once it is known; draws at most ten times a second.
    func update(_ done: Int, of known: Int? = nil) {
        guard isShown else { return }
        let now = ContinuousClock.now
        let (isDue, total) = state.withLock { state in
            state.done = done
            state.total = known ?? state.total
            if let last = state.drawnAt, now - last < .milliseconds(100) { return (false, state.total) }
            state.drawnAt = now
            return (true, state.total)
        }
        guard isDue else { return }
        let text = Self.text(
            label: label, done: done, total: total, noun: noun, elapsed: now - start,
            width: StandardStream.error.width)
        try? StandardStream.error.write(Array("\r\(text)\u{1B}[K".utf8))
    }

    /// Removes the bar from the screen.
    func finish() {
        guard isShown, state.withLock({ $0.drawnAt }) != nil else { return }
        try? StandardStream.error.write(Array("\r\u{1B}[K".utf8))
    }

    /// Returns the bar as text of at most `width` characters.
    static func text(label: String, done: Int, total: Int?, noun: String, elapsed: Duration, width: Int) -> String {
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        let rate = seconds > 0.05 ? "  \(Plain.count(Int(exactly: (Double(done) / seconds).rounded()) ?? done))/s" : ""
        guard let total, total > 0 else {
            return String("\(label)  \(Plain.count(done, noun))\(rate)".prefix(max(0, width - 1)))
        }
        let share = min(1, max(0, Double(done) / Double(total)))
        let percent = String(Int(exactly: (share * 100).rounded(.down)) ?? 100)
        let tail =
            String(repeating: " ", count: 4 - percent.count)
            + "\(percent)%  \(Plain.count(done)) of \(Plain.count(total, noun))\(rate)"
        let room = min(24, width - 1 - label.count - tail.count - 5)
        guard room >= 8 else { return String("\(label) \(tail)".prefix(max(0, width - 1))) }
        let filled = Int(exactly: (share * Double(room)).rounded(.down)) ?? room
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: room - filled)
        return "\(label)  [\(bar)] \(tail)"
    }
}
