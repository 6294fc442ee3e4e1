internal import ArgumentParser

/// The commands of a policy for many devices: those of its publisher, who needs neither store nor server, and those of a
/// device's operator.
struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Publish a policy to many devices, and see what became of it.",
        discussion: """
            A release is one signed file with a policy, its plugins and their fixtures. Any web server serves it; devices \
            whose configuration has policy.url fetch it, try it, serve with it, and go back by themselves: docs/fleet.md.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Publish",
                subcommands: [
                    PolicyKeygenCommand.self, PolicyPublishCommand.self, PolicySignCommand.self,
                    PolicyVerifyCommand.self, PolicyDiffCommand.self, PolicyRolloutCommand.self,
                ]),
            CommandGroup(
                name: "Operate",
                subcommands: [PolicyStatusCommand.self, PolicyWhyCommand.self, PolicyFleetCommand.self]),
        ])
}
