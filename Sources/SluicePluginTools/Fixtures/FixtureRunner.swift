public import SluiceCore
public import SluiceLua

/// Runs the fixtures and specs of a bundle, each in a machine of its own and a world that is faked whole.
///
/// ```swift
/// let bundle = try PluginBundle(folder: "Plugins/field-merge")
/// let report = await FixtureRunner(bundle).run()
/// print(report.lines.joined(separator: "\n"))
/// ```
public struct FixtureRunner: Sendable {
    let bundle: PluginBundle
    /// What a deployment makes of the plugin, where its limits and its configuration are to count: the configuration
    /// for fixtures that say none. One that passes with the defaults alone passes, and what differs is noted.
    public var plan: PluginPlan?
    /// The wire of the server: which fields of a record are the server's.
    public var dialect: Dialect = .azureV2
    /// Tables whose columns are declared: what plugins make of their records is checked by it.
    public var tables: [TableSchema] = []
    /// Whether to find out which statements ran.
    public var measuresCoverage = false
    /// Only what has this text in its path or name; nil for all.
    public var filter: String?

    /// A runner for a bundle.
    public init(_ bundle: PluginBundle) { self.bundle = bundle }

    /// Runs all of them.
    public func run() async -> FixtureReport {
        var spent: [String: Int] = [:]
        let results = await run(&spent)
        return FixtureReport(
            plugin: plan?.name ?? bundle.manifest.name, results: results,
            coverage: measuresCoverage ? LineCoverage(bundle, spent: spent) : nil)
    }

    /// The fuel by line of all of them: `["main.lua:41": 1200]`.
    func spent() async -> [String: Int] {
        var spent: [String: Int] = [:]
        _ = await run(&spent)
        return spent
    }

    private func run(_ spent: inout [String: Int]) async -> [FixtureResult] {
        var results: [FixtureResult] = []
        for path in bundle.fixtures {
            do throws(SluiceError) {
                let fixture = try bundle.fixture(at: path)
                guard includes(path, fixture.name) else { continue }
                results.append(await run(fixture, &spent))
            } catch {
                guard includes(path, "") else { continue }
                results.append(
                    FixtureResult(path: path, name: "can be read", hook: nil, differences: [error.message]))
            }
        }
        for path in bundle.specs {
            for result in await SpecRunner(bundle, dialect: dialect, tables: tables).run(path, &spent)
            where includes(path, result.name) {
                results.append(result)
            }
        }
        return results
    }

    private func includes(_ path: String, _ name: String) -> Bool {
        filter.map { path.contains($0) || name.contains($0) } ?? true
    }

    /// Runs one fixture.
    public func run(_ fixture: PluginFixture) async -> FixtureResult {
        var spent: [String: Int] = [:]
        return await run(fixture, &spent)
    }

    func run(_ fixture: PluginFixture, _ spent: inout [String: Int]) async -> FixtureResult {
        do {
            let trial = try FixtureTrial(fixture, bundle, dialect: dialect, tables: tables, in: plan)
            var (differences, cost, lines) = try await trial.run(measuresCoverage: measuresCoverage)
            var notes: [String] = []
            // A fixture without a configuration is about the defaults: under a policy it may come out otherwise.
            if plan != nil, !fixture.hasConfig, !differences.isEmpty,
                let own = try? FixtureTrial(
                    fixture, bundle, dialect: dialect, tables: tables, in: plan, keepsConfig: true)
            {
                notes = differences.map { "with the configuration of the policy: \($0)" }
                (differences, _, _) = try await own.run(measuresCoverage: false)
            }
            for (line, fuel) in lines { spent[line, default: 0] += fuel }
            return FixtureResult(
                path: fixture.path, name: fixture.name, hook: fixture.hook, differences: differences, notes: notes,
                cost: cost)
        } catch {
            let message = (error as? SluiceError)?.message ?? "\(error)"
            return FixtureResult(path: fixture.path, name: fixture.name, hook: fixture.hook, differences: [message])
        }
    }
}

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
