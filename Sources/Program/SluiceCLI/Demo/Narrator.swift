internal import Foundation
internal import Synchronization

/// Tells the demo's story on standard output, in numbered steps; in colour on a terminal.
final class Narrator: Sendable {
    private let isSilent: Bool
    private let hasColour: Bool
    private let step = Mutex(0)
    private let output = OutputLines()

    init(isSilent: Bool) {
        self.isSilent = isSilent
        let isRefused = ProcessInfo.processInfo.environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        hasColour = StandardStream.output.isTerminal && !isRefused
    }

    /// Writes a line by itself.
    func say(_ text: String) { write(text) }

    /// Begins the next step.
    func step(_ text: String) {
        let number = step.withLock { number in
            number += 1
            return number
        }
        write(paint("\(number < 10 ? " " : "")\(number). ", "1;36") + paint(text, "1"))
    }

    /// Writes an event of the step.
    func detail(_ text: String) { write("      \(text)") }

    /// Writes a success.
    func good(_ text: String) { write("      " + paint(text, "32")) }

    /// Writes a noteworthy event.
    func bad(_ text: String) { write("      " + paint(text, "33")) }

    /// - Throws: the reason why a line of the story was lost.
    func checkWritten() throws { try output.check() }

    private func paint(_ text: String, _ code: String) -> String {
        hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    private func write(_ line: String) {
        if !isSilent { output.write(line) }
    }
}
