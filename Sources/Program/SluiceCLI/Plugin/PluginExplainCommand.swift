internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginExplainCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract:
            "Tell recorded decisions about a record, or that of one line: what was given, what was said, and why.",
        discussion:
            "The numbers after # begin at 1 again in each process; the number of a line is one decision's alone.")

    @Argument(help: "A file of decisions, one JSON object a line.")
    var file: String

    @Argument(help: "A record, as TABLE/ID or by its id alone: all decisions about it.")
    var record: String?

    @Option(help: ArgumentHelp("The line of the file whose decision is told, counted from 1.", valueName: "n"))
    var line: Int?

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func validate() throws {
        guard (record == nil) != (line == nil) else {
            throw ValidationError("Say either a record or --line N.")
        }
    }

    func outcome() async throws -> Outcome {
        let decisions = try PluginFiles.decisions(file)
        // Explained even if some of them failed.
        let explanations = try found(in: decisions).map { DecisionExplanation($0) }
        return Outcome(
            json: ["decisions": JSON(explanations.map(\.json))],
            text: explanations.enumerated().flatMap { index, explanation in
                (index > 0 ? [""] : []) + explanation.lines.map { Plain.line($0) }
            })
    }

    private func found(in decisions: DecisionFile) throws -> [DecisionFile.Line] {
        if let line {
            guard let found = decisions.line(line) else {
                throw CommandFailure.usage("\(file) has no decision on line \(line)")
            }
            return [found]
        }
        let record = record ?? ""
        let found = decisions.lines(about: record)
        guard !found.isEmpty else {
            let hint = Int(record).map { "; a line is given as --line \($0)" } ?? ""
            throw CommandFailure.usage("\(file) has no decision about a record \(record)\(hint)")
        }
        return found
    }
}
