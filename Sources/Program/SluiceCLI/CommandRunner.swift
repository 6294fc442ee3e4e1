internal import ArgumentParser
internal import Sluice

/// Parses the arguments, runs the command and reports its outcome. Every command runs through it.
struct CommandRunner {
    let arguments: [String]
    /// Whether the arguments were valid UTF-8.
    var areText = true

    /// Whether the caller wants JSON, known even if the arguments cannot be parsed.
    private var wantsJSON: Bool { arguments.prefix { $0 != "--" }.contains("--json") }

    /// Runs the command given by the arguments.
    func run() async -> ExitStatus {
        guard areText else { return finish(Outcome(.usage("an argument is not UTF-8"))) }
        let command: any ParsableCommand
        do {
            command = try SluiceCommand.parseAsRoot(arguments)
        } catch {
            return refuse(error)
        }
        do {
            return try await run(command)
        } catch {
            // The root and `help` end here: they throw the text to print.
            if SluiceCommand.exitCode(for: error) == .success { return refuse(error) }
            return finish(Outcome(CommandFailure(error)))
        }
    }

    private func run(_ command: any ParsableCommand) async throws -> ExitStatus {
        if let command = command as? any OutcomeCommand { return finish(try await command.outcome()) }
        var command = command
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
        return .done
    }

    private func finish(_ outcome: Outcome) -> ExitStatus {
        outcome.print(asJSON: wantsJSON)
    }

    /// Reports why the arguments are not a command. `--help` and `--version` arrive here too.
    private func refuse(_ error: any Error) -> ExitStatus {
        guard SluiceCommand.exitCode(for: error) != .success else {
            return Outcome(json: .object, text: [SluiceCommand.fullMessage(for: error)]).print(asJSON: false)
        }
        let names = SluiceCommand.all.compactMap { $0.configuration.commandName }
        let place = arguments.first.flatMap { names.contains($0) ? "\($0) " : nil } ?? ""
        return finish(Outcome(.usage("\(SluiceCommand.message(for: error)); see sluice \(place)--help")))
    }
}
