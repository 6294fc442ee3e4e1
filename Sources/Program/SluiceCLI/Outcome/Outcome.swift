internal import ArgumentParser
internal import Sluice

/// The outcome of a command, printed in one place, so that every command keeps the same contract.
struct Outcome {
    /// The largest number of printed failures, each on a line: an unreachable server fails every change in the same
    /// way.
    private static let mostFailures = 20

    /// The document for `--json`.
    var json: JSON
    /// The documents that `--json` prints instead if nothing failed, each on a line; nil for the single document.
    var lines: [JSON]?
    /// The text without `--json`.
    var text: [String]
    /// The failures.
    var failures: [CommandFailure] = []
    /// The exit status of the process.
    var status: ExitStatus = .done

    init(json: JSON, text: [String], failures: [CommandFailure] = [], status: ExitStatus = .done) {
        self.json = json
        self.text = text
        self.failures = failures
        self.status = status
    }

    /// Reports a command that failed before it did anything.
    init(_ failure: CommandFailure) {
        self.init(json: .object, text: [], failures: [failure], status: failure.status)
    }

    /// Adds a failure. The worst decides the exit status.
    mutating func add(_ failure: CommandFailure) {
        failures.append(failure)
        status = status.worse(failure.status)
    }

    /// Prints the document or the text on standard output, and each failure as a line on standard error. A result that
    /// could not be written is a failure like others.
    ///
    /// - Returns: the exit status of the process.
    func print(asJSON: Bool) -> ExitStatus {
        var outcome = self
        do { try outcome.printResult(asJSON: asJSON) } catch { outcome.add(CommandFailure(error)) }
        outcome.tellFailures()
        return outcome.status
    }

    private func printResult(asJSON: Bool) throws {
        if asJSON, failures.isEmpty, let lines {
            try StandardStream.output.write(lines.flatMap { $0.bytes() + Array("\n".utf8) })
        } else if asJSON {
            var document = json
            if let first = failures.first { document["error"] = first.json }
            try StandardStream.output.write(document.bytes() + Array("\n".utf8))
        } else if !text.isEmpty {
            try StandardStream.output.write(line: text.joined(separator: "\n"))
        }
    }

    private func tellFailures() {
        for failure in failures.prefix(Self.mostFailures) { StandardStream.tell(line: failure.line) }
        if failures.count > Self.mostFailures {
            let rest = Plain.count(failures.count - Self.mostFailures)
            StandardStream.tell(line: "sluice: and \(rest) more: see sluice queue list")
        }
    }
}

/// A command that ends with an outcome to print.
protocol OutcomeCommand: AsyncParsableCommand {
    /// Runs the command.
    ///
    /// - Throws: the reason why it could not run at all.
    func outcome() async throws -> Outcome
}
