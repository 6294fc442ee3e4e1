internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginExplainCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Tell one recorded decision: what was given, what was said, and why.")

    @Argument(help: "A file of decisions, one JSON object a line.")
    var file: String

    @Argument(help: "The decision's number, or the id of a record: its last decision.")
    var decision: String

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        guard let decision = try DecisionFile(path: file).decision(decision) else {
            throw CommandFailure.usage("\(file) has no decision \(decision), and none about such a record")
        }
        // It is told whatever came of it.
        let explanation = DecisionExplanation(decision)
        return Outcome(json: explanation.json, text: explanation.lines.map { Plain.line($0) })
    }
}
