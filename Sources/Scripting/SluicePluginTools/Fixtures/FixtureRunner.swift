public import SluiceCore
public import SluiceLua

/// Runs the fixtures of a bundle, each in its own machine and a completely simulated world.
///
/// ```swift
/// let bundle = try PluginBundle(folder: "Plugins/field-merge")
/// let report = await FixtureRunner(bundle).run()
/// print(report.lines.joined(separator: "\n"))
/// ```
public struct FixtureRunner: Sendable {
    let bundle: PluginBundle
    /// The deployment's plan, if its limits and its configuration have to apply. The configuration is for fixtures
    /// without one. If such a fixture passes only with the defaults, it passes, and the differences become notes.
    public var plan: PluginPlan?
    /// The wire protocol of the server: it defines the fields of a record that only the server sets.
    public var dialect: Dialect = .azureV2
    /// Tables with declared columns: records from plugins are checked against them.
    public var tables: [TableSchema] = []
    /// Whether to record the executed statements.
    public var measuresCoverage = false
    /// A text in the path or name of the fixtures to run; nil for all.
    public var filter: String?

    /// Creates a runner for a bundle.
    public init(_ bundle: PluginBundle) { self.bundle = bundle }

    /// Runs all fixtures.
    public func run() async -> FixtureReport {
        var spent: [String: Int] = [:]
        let results = await run(&spent)
        return FixtureReport(
            plugin: plan?.name ?? bundle.manifest.name, results: results,
            warnings: bundle.unusedSpecs.map { "\($0): warning: \(PluginBundle.unusedSpecWarning)" },
            coverage: measuresCoverage ? LineCoverage(bundle, spent: spent) : nil)
    }

    /// Returns the fuel of all runs by line: `["main.lua:41": 1200]`.
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
            // A fixture without a configuration assumes the defaults: under a policy its result may differ.
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
    /// Refuses a plugin whose fixtures fail. As ``PluginOptions/gate`` it lets a new version serve only if its
    /// own tests pass.
    ///
    /// ```swift
    /// PluginOptions(gate: FixtureRunner.gate)
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the first failure and its differences.
    @Sendable public static func gate(_ plan: PluginPlan) async throws {
        let report = await FixtureRunner(plan.bundle).run()
        guard let failed = report.results.first(where: { !$0.isPassed }) else { return }
        throw SluiceError(
            .invalidArgument,
            "plugin \(plan.name): \(failed.path) does not pass: \(failed.differences.joined(separator: "; "))")
    }
}

/// The results of all fixtures of a bundle.
public struct FixtureReport: ToolReport {
    /// The plugin's name.
    public let plugin: String
    /// The results, in the order of the files.
    public let results: [FixtureResult]
    /// The Lua specs of the bundle, which are not run, one on each line.
    public let warnings: [String]
    /// The coverage of statements; nil if it was not recorded.
    public let coverage: LineCoverage?

    /// The number of passed fixtures.
    public var passed: Int { results.count { $0.isPassed } }
    /// The number of failed fixtures.
    public var failed: Int { results.count - passed }
    /// Whether all passed.
    public var isGood: Bool { failed == 0 }

    /// The results in TAP format, with the differences after each failure.
    public var lines: [String] {
        var lines = ["# \(plugin)", "1..\(results.count)"] + warnings.map { "# \($0)" }
        for (index, result) in results.enumerated() {
            lines.append("\(result.isPassed ? "ok" : "not ok") \(index + 1) - \(result.path): \(result.name)")
            lines += (result.differences + result.notes).map { "  # \($0)" }
        }
        if let coverage { lines += coverage.lines.map { "# \($0)" } }
        return lines + ["\(passed) passed, \(failed) failed"]
    }

    /// The report as JSON.
    public var json: JSON {
        var json: JSON = [
            "plugin": JSON(plugin), "results": JSON(results.map(\.json)), "passed": JSON(passed),
            "failed": JSON(failed),
        ]
        if !warnings.isEmpty { json["warnings"] = JSON(warnings.map { JSON($0) }) }
        if let coverage { json["coverage"] = coverage.json }
        return json
    }
}

extension JoinedReport {
    /// Joins the results of fixtures, with one line of total counts.
    public init(_ reports: [FixtureReport]) {
        let passed = reports.reduce(0) { $0 + $1.passed }
        let failed = reports.reduce(0) { $0 + $1.failed }
        self.init(reports, summary: reports.count > 1 ? "\(passed) passed, \(failed) failed" : nil)
    }
}

/// The executed statements inside functions. Statements outside run whenever the plugin is loaded.
public struct LineCoverage: Sendable {
    /// The coverage of one file.
    public struct File: Sendable {
        /// The file: `main.lua`, `lib/rules.lua`.
        public let name: String
        /// The number of statements inside functions.
        public let statements: Int
        /// The lines of statements that did not run.
        public let missing: [Int]
    }

    /// The files with statements, in the order of the bundle.
    public let files: [File]

    /// - Parameter spent: the sandbox's fuel by line: `{"main.lua:41": 1200}`.
    init(_ bundle: PluginBundle, spent: [String: Int]) {
        files = bundle.sources.compactMap { source in
            guard let outline = LuaOutline(source.text), !outline.statements.isEmpty else { return nil }
            let missing = outline.statements.filter { statement in
                !statement.lines.contains { spent["\(source.path):\($0)"] != nil }
            }
            return File(
                name: source.path, statements: outline.statements.count,
                missing: Set(missing.map(\.lines.lowerBound)).sorted())
        }
    }

    var lines: [String] {
        files.map { file in
            let share = file.statements == 0 ? 100 : 100 * (file.statements - file.missing.count) / file.statements
            let rest =
                file.missing.isEmpty ? "" : ", not lines \(file.missing.map(String.init).joined(separator: ", "))"
            return "\(file.name): \(share) % of \(file.statements.counted("statement")) ran\(rest)"
        }
    }

    var json: JSON {
        JSON(
            members: files.map { file in
                (file.name, ["statements": JSON(file.statements), "missing": JSON(file.missing.map { JSON($0) })])
            })
    }
}

extension FixtureRunner {
    /// Runs a fixture of `request`, `filter` or `response` with a filter in Swift instead of the plugin, so that a
    /// rewrite can be tested with the same fixtures. It compares the requests that continue, the answer, and failures.
    /// Expectations that only a script can meet (decision, log, `kv`, fuel) are ignored.
    public func run(_ fixture: PluginFixture, through filter: any RequestFilter) async -> FixtureResult {
        func result(_ differences: [String]) -> FixtureResult {
            FixtureResult(path: fixture.path, name: fixture.name, hook: fixture.hook, differences: differences)
        }
        do {
            let members = try fixture.given.members(["request", "response", "scratch", "shared"])
            var script = fixture.world
            switch fixture.hook {
            case .filter: break
            case .request:
                script.next = [.response(try FixtureMessage.response(fixture.given.child(.object, "response")))]
            case .response:
                let response = members["response"] ?? fixture.given.child(.object, "response")
                script.next = [.response(try FixtureMessage.response(response))]
            default: return result(["a filter in Swift has no \(fixture.hook.rawValue)"])
            }
            let world = FixtureWorld(script)
            let request = try GivenReader(dialect: dialect, now: world.now)
                .request(members["request"] ?? fixture.given.child(.object, "request"))
            var compared = fixture
            compared.expectation = fixture.expectation.ofExchange
            let trial = try FixtureTrial(compared, bundle, dialect: dialect, tables: tables)
            return result(trial.differences(await Self.outcome(of: filter, request, world), world))
        } catch {
            return result([error.message])
        }
    }

    private static func outcome(
        of filter: any RequestFilter, _ request: SyncRequest, _ world: FixtureWorld
    ) async -> FixtureTrial.Outcome {
        var outcome = FixtureTrial.Outcome()
        do {
            var answer = FixtureAnswer()
            answer.response = try await filter.handle(request) { try await world.exchange($0) }
            answer.request = world.sent.last
            outcome.answer = answer
        } catch {
            outcome.failure = PluginFailure(
                plugin: "\(type(of: filter))", hook: HookKind.filter.rawValue, ScriptFailure(.runtime, "\(error)"))
        }
        return outcome
    }
}

extension FixtureWorld {
    /// Answers a request like `next`.
    ///
    /// - Throws: ``SluiceError`` of code `network` if the fixture sets an error, or has no answer.
    func exchange(_ request: SyncRequest) async throws -> SyncResponse {
        switch await perform(.next(request), within: nil) {
        case .response(let response, _): return response
        case .nextFailed(let message, _): throw SluiceError(.network, message)
        case .reply, .rows, .ended: throw SluiceError(.network, "there is no answer")
        }
    }
}
