internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Explain, check and describe the configuration.",
        subcommands: [ExplainCommand.self, CheckCommand.self, SchemaCommand.self])

    struct ExplainCommand: OutcomeCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain", abstract: "Print every value and where it comes from.",
            discussion: "Secrets are shown by where they come from alone.")

        @OptionGroup var settings: SettingsOptions
        @Flag(help: "Also values that are not given.") var all = false
        @Flag(help: "Print exactly one JSON document.") var json = false

        func outcome() async throws -> Outcome {
            let (_, read) = try settings.source().read()
            let lines = SettingsExplanation.lines(read).filter { all || $0.origin != "not given" }
            let table = TextTable(
                head: ["key", "value", "from"],
                rows: lines.map { [$0.key, $0.value.map { Plain.line($0) } ?? "(hidden)", $0.origin] })
            return Outcome(json: ["values": JSON(lines.map(\.json))], text: table.lines())
        }
    }

    struct CheckCommand: OutcomeCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Read the configuration as the daemon would, and say what is wrong with it.",
            discussion: """
                Looks at all that it names too: keys, tokens, certificates, plugins with their fixtures. The store is not \
                opened, the token's program is not run, and nothing is sent.
                """)

        @OptionGroup var settings: SettingsOptions
        @Flag(help: "Print exactly one JSON document.") var json = false

        func outcome() async throws -> Outcome {
            let source = try settings.source()
            try await ServingPlan(source).check()
            let (_, read) = try source.read()
            return Outcome(
                json: ["endpoints": JSON(read.endpoints.map { JSON($0) })],
                text: ["the configuration can be used: \(Plain.count(read.endpoints.count, "endpoint"))"])
        }
    }

    struct SchemaCommand: OutcomeCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema", abstract: "Print the JSON Schema of the configuration file.")

        @Flag(help: "The same: the schema is JSON.") var json = false

        func outcome() async throws -> Outcome {
            Outcome(json: SettingsSchema.json, text: [SettingsSchema.json.description])
        }
    }
}
