internal import Sluice

/// What a command did: printed in one place, so that every command keeps the same contract.
struct Outcome {
    /// How many failures are printed, each on a line: a server that cannot be reached fails every change in the same way.
    private static let mostFailures = 20

    /// The document that `--json` prints.
    var json: JSON
    /// What `--json` prints in place of the document where nothing failed, each on a line; nil for the document.
    var lines: [JSON]?
    /// What is printed without `--json`.
    var text: [String]
    /// What did not succeed.
    var failures: [CommandFailure] = []
    /// What the process ends with.
    var status: ExitStatus = .done

    init(json: JSON, text: [String], failures: [CommandFailure] = [], status: ExitStatus = .done) {
        self.json = json
        self.text = text
        self.failures = failures
        self.status = status
    }

    /// A command that failed before it did anything.
    init(_ failure: CommandFailure) {
        self.init(json: .object, text: [], failures: [failure], status: failure.status)
    }

    /// Adds a failure. The worst decides what the process ends with.
    mutating func add(_ failure: CommandFailure) {
        failures.append(failure)
        status = status.worse(failure.status)
    }

    /// Prints the document or the text on standard output, and each failure as a line on standard error. A result that
    /// did not arrive is a failure like others.
    ///
    /// - Returns: what the process ends with.
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
