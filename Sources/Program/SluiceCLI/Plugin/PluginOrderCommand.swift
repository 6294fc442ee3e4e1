internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginOrderCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "order",
        abstract: "Print the chains of a deployment in their order, and why each link is where it is.")

    @Argument(help: "The deployment's policy.")
    var policy: String

    @Option(help: ArgumentHelp("The table that a call is about.", valueName: "name"))
    var table: String?

    @Option(help: ArgumentHelp("Its HTTP method.", valueName: "method"))
    var method: String?

    @Option(help: ArgumentHelp("The host that it goes to.", valueName: "name"))
    var host: String?

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        Outcome(try OrderReport(try PluginPolicy(file: policy), table: table, method: method, host: host))
    }
}
