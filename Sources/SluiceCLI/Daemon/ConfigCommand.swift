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
            commandName: "check", abstract: "Read the configuration as the daemon would, and say what is wrong with it."
        )

        @OptionGroup var settings: SettingsOptions
        @Flag(help: "Print exactly one JSON document.") var json = false

        func outcome() async throws -> Outcome {
            let source = try settings.source()
            let (file, read) = try source.read()
            for name in read.endpoints {
                let client = try ClientSettings(file, read, endpoint: name, environment: source.environment)
                _ = try client.requireStore()
                _ = try await client.connection()
            }
            let count = read.endpoints.count
            return Outcome(
                json: ["endpoints": JSON(read.endpoints.map { JSON($0) })],
                text: ["the configuration can be used: \(Plain.count(count, "endpoint"))"])
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
