internal import ArgumentParser

/// A command that ends with an outcome to print.
protocol OutcomeCommand: AsyncParsableCommand {
    /// Runs the command.
    ///
    /// - Throws: the reason why it could not run at all.
    func outcome() async throws -> Outcome
}
