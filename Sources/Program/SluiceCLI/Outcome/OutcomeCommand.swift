internal import ArgumentParser

/// A command that ends with an outcome to print.
protocol OutcomeCommand: AsyncParsableCommand {
    /// Does the work.
    ///
    /// - Throws: what kept it from being done at all.
    func outcome() async throws -> Outcome
}
