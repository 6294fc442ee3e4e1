internal import Foundation
internal import Sluice
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

/// The demo's results, for `--json`.
struct DemoFacts {
    var rows: Int
    var endpoint: String
    /// For each device: the number of rows in the first pull.
    var pulled: [(name: String, rows: Int)] = []
    /// For each device: the end of the push without a network, and the number of changes left waiting.
    var offline: [(name: String, end: String, waiting: Int)] = []
    /// For each device: the numbers of changes sent, conflicts met, and changes left.
    var pushed: [(name: String, applied: Int, conflicts: Int, remaining: Int)] = []
    var rulings: [DemoHandler.Ruling] = []
    var comparison: DemoComparison
    var seconds: Double
    var folder: String?
    /// The calls of the plugins' hooks.
    var plugins: [DemoPlugins.Line] = []
    /// The result of searching the files of encrypted stores.
    var encryption: DemoEncryption.Facts?

    var json: JSON {
        var json = story
        if !plugins.isEmpty { json["plugins"] = JSON(printing: plugins) }
        if let encryption { json["encryption"] = JSON(printing: encryption) }
        return json
    }

    private var story: JSON {
        [
            "rows": JSON(rows), "endpoint": JSON(endpoint),
            "pulled": JSON(pulled.map { ["device": JSON($0.name), "rows": JSON($0.rows)] as JSON }),
            "offline": JSON(
                offline.map { ["device": JSON($0.name), "end": JSON($0.end), "waiting": JSON($0.waiting)] as JSON }),
            "pushed": JSON(
                pushed.map {
                    [
                        "device": JSON($0.name), "applied": JSON($0.applied), "conflicts": JSON($0.conflicts),
                        "remaining": JSON($0.remaining),
                    ] as JSON
                }),
            "conflicts": JSON(printing: rulings), "comparison": JSON(printing: comparison),
            "equal": JSON(comparison.isEqual), "seconds": JSON((seconds * 1000).rounded() / 1000),
            "folder": JSON(printing: folder),
        ]
    }
}
