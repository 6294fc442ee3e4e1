internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginConvergeCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "converge",
        abstract: "Play made-up conflicts: does the handler end, with all equal and nothing lost?",
        discussion: """
            Records are made of the columns of --table, or of the fields that the fixtures have. The same seed plays the \
            same conflicts. Ends with 1 where a claim does not hold.
            """)

    @OptionGroup var target: PluginTargetOptions
    @OptionGroup var tableOptions: PluginTableOptions

    @Option(help: ArgumentHelp("The table of --tables that records are made of.", valueName: "name"))
    var table: String?

    @Option(
        help: ArgumentHelp(
            "The plugin's configuration, as JSON; else that of the policy or of its first fixture.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("What chance begins with.", valueName: "seed"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How many single conflicts.", valueName: "n"))
    var conflicts = 300

    @Option(help: ArgumentHelp("How many stories of two to four replicas.", valueName: "n"))
    var stories = 150

    @Option(
        help: ArgumentHelp(
            "A field of which one side's change may be lost, and why; may be given more than once.",
            valueName: "field=reason"))
    var exempt: [String] = []

    @Flag(help: "One side wins, and fields may be lost: that is the policy.")
    var allowLoss = false

    func outcome() async throws -> Outcome {
        let tables = try PluginFiles.tables(tableOptions.tables)
        let schema = try table.map { name in
            guard let schema = tables.first(where: { $0.name == name }) else {
                throw CommandFailure.usage("no table \(name) is declared; --tables names the file")
            }
            return schema
        }
        let exempt = try exemptions
        var reports: [any ToolReport] = []
        for (bundle, plan) in try target.subjects where bundle.manifest.hooks[.onConflict] != nil {
            var trial = PluginConvergence(bundle)
            trial.config = try PluginFiles.config(config)
            trial.schema = schema
            trial.plan = plan
            trial.seed = seed
            trial.conflicts = conflicts
            trial.stories = stories
            trial.allowsLoss = allowLoss
            trial.exempt = exempt
            reports.append(try await trial.run())
        }
        guard !reports.isEmpty else {
            throw CommandFailure.usage("\(target.paths.joined(separator: ", ")): no plugin has a hook on_conflict")
        }
        return Outcome(JoinedReport(reports))
    }

    private var exemptions: [PropertyName: String] {
        get throws {
            var reasons: [PropertyName: String] = [:]
            for text in exempt {
                let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2, parts[1].contains(where: { !$0.isWhitespace }) else {
                    throw CommandFailure.usage("--exempt takes a field and the reason: field=reason")
                }
                reasons[PropertyName(parts[0])] = parts[1]
            }
            return reasons
        }
    }
}
