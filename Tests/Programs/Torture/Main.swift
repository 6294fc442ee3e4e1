import ArgumentParser

/// Ends real processes with real files in the middle of their work, has clients meet servers that lie, and sees that
/// nothing is lost. Only for tests: no product ships it.
@main
struct Torture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture", abstract: "Ends processes in the middle of their work.",
        subcommands: [
            KillCommand.self, WorkerCommand.self, ConvertCommand.self, MigrateCommand.self, HostileCommand.self,
        ])
}
