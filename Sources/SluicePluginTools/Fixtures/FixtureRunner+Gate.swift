internal import SluiceCore
public import SluiceLua

extension FixtureRunner {
    /// Refuses a plugin whose fixtures and specs do not pass: for ``PluginOptions/gate``, so that a new version serves
    /// only where it does what its author says.
    ///
    /// ```swift
    /// PluginOptions(gate: FixtureRunner.gate)
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the first that does not pass, and what differs.
    @Sendable public static func gate(_ plan: PluginPlan) async throws {
        let report = await FixtureRunner(plan.bundle).run()
        guard let failed = report.results.first(where: { !$0.isPassed }) else { return }
        throw SluiceError(
            .invalidArgument,
            "plugin \(plan.name): \(failed.path) does not pass: \(failed.differences.joined(separator: "; "))")
    }
}
