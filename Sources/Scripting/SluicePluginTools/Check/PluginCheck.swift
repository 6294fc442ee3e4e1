public import SluiceCore
public import SluiceLua

/// Checks a bundle without needing fixtures: whether it can be read, compiled and loaded, whether the names that it
/// uses exist, whether it declares the permissions that it uses, and whether the sandbox's guards work.
public struct PluginCheck: Sendable {
    private let folder: String

    /// Creates a check of the bundle in a folder.
    public init(folder: String) { self.folder = folder }

    /// Reads the bundle and checks it.
    public func run() async -> CheckReport {
        let bundle: PluginBundle
        do throws(SluiceError) {
            bundle = try PluginBundle(folder: folder)
        } catch {
            var report = CheckReport(plugin: folder)
            report.error(
                folder,
                error.message.hasPrefix("\(folder)/")
                    ? String(error.message.dropFirst(folder.utf8.count + 1)) : error.message)
            return report
        }
        return await Self.run(bundle)
    }

    /// Checks a bundle that was already read.
    public static func run(_ bundle: PluginBundle) async -> CheckReport {
        var report = CheckReport(plugin: bundle.manifest.name)
        let fixtures = read(bundle, &report)
        await load(bundle, fixtures, &report)
        names(bundle, &report)
        company(bundle, fixtures, &report)
        await roundTrips(bundle, fixtures, &report)
        return report
    }

    private static func read(_ bundle: PluginBundle, _ report: inout CheckReport) -> [PluginFixture] {
        var fixtures: [PluginFixture] = []
        for path in bundle.fixtures {
            do throws(SluiceError) {
                let fixture = try bundle.fixture(at: path)
                if fixture.hook != .initialize, bundle.manifest.hooks[fixture.hook] == nil {
                    report.error(path, "the plugin has no hook \(fixture.hook.rawValue)")
                }
                fixtures.append(fixture)
            } catch {
                report.error(path, error.message)
            }
        }
        for path in bundle.unusedSpecs { report.warn(path, PluginBundle.unusedSpecWarning) }
        return fixtures
    }

    /// Loads the plugin as deployed, with the first configuration that it accepts: an empty one, or a fixture's.
    private static func load(
        _ bundle: PluginBundle, _ fixtures: [PluginFixture], _ report: inout CheckReport
    ) async {
        var refusal: SluiceError?
        var failure: PluginFailure?
        let worlds =
            [(JSON.object, Deployment(), FixtureWorld.Script())]
            + fixtures.filter { $0.expectation.error == nil }.map { ($0.config, $0.deployment, $0.world) }
        for (config, deployment, world) in worlds {
            do {
                let plan = try PluginPlan(bundle, config: config, deployment: deployment)
                let rig = try await PluginRig(plan, FixtureWorld(world))
                for guarded in await rig.host.selfTest(rig.id) {
                    report.error("sandbox", "the guard \(guarded) does not hold on this machine")
                }
                return
            } catch let error as SluiceError {
                refusal = refusal ?? error
            } catch let error as PluginFailure {
                // Only `init` depends on the configuration.
                failure = error
                if error.hook != HookKind.initialize.rawValue { break }
            } catch {
                report.error(bundle.manifest.main, "\(error)")
                return
            }
        }
        if let failure {
            let file = failure.file ?? bundle.manifest.main
            report.error(failure.line.map { "\(file):\($0)" } ?? file, failure.message)
        } else if let refusal {
            report.warn(
                PluginManifest.fileName,
                "not loaded: it takes no empty configuration, and no fixture has another (\(refusal.message))")
        }
    }

    private static func names(_ bundle: PluginBundle, _ report: inout CheckReport) {
        var outlines: [(file: String, outline: LuaOutline)] = []
        for source in bundle.sources {
            // The machine has already refused a text that is not Lua.
            guard let outline = LuaOutline(source.text) else { continue }
            outlines.append((source.path, outline))
        }
        let own = Set(outlines.flatMap(\.outline.uses).filter(\.isWritten).map { $0.path[0] })
        let uses = outlines.flatMap { file, outline in outline.uses.map { (file, $0) } }
            .filter { !own.contains($0.1.path[0]) }
        do throws(ScriptFailure) {
            let verdicts = try GlobalProbe.verdicts(Set(uses.map(\.1.path)))
            for (file, use) in uses {
                let name = use.path.joined(separator: ".")
                switch verdicts[use.path] {
                case .unknown: report.error("\(file):\(use.line)", "there is no \(name)")
                case .blocked: report.error("\(file):\(use.line)", "plugins do not have \(name)")
                case nil: break
                }
            }
        } catch {
            report.error(bundle.manifest.main, error.message)
        }
        for (file, outline) in outlines { hooks(bundle, file, outline, outlines.map(\.outline), &report) }
        permissions(bundle, outlines, &report)
    }

    /// Reports errors of a text's hooks: missing members, writes to globals, and modules required too late.
    private static func hooks(
        _ bundle: PluginBundle, _ file: String, _ outline: LuaOutline, _ all: [LuaOutline], _ report: inout CheckReport
    ) {
        let scopes = HookScopes(
            outline, declared: Set(bundle.manifest.hooks.keys), isMain: file == bundle.manifest.main)
        for (line, message) in scopes.unknownMembers { report.error("\(file):\(line)", message) }
        let modules = bundle.sources.map(\.name)
        let early = Set(all.flatMap(\.uses).filter { $0.path == ["require"] && $0.function == nil }.map(\.argument))
        for use in outline.uses {
            let place = "\(file):\(use.line)"
            if use.path == ["require"], let module = use.argument, !modules.contains(module) {
                let hint = NearestKey.suggestion(for: module, among: modules) ?? ""
                report.error(place, "there is no module \(module) in the plugin\(hint)")
                continue
            }
            let words: String
            if use.isWritten, use.path.count == 1, use.function != nil {
                words = "the global \(use.path[0]) cannot be written once the plugin is loaded; say local"
            } else if use.path == ["require"], let module = use.argument, use.function != nil, !early.contains(module) {
                words = "\(module) cannot be required once the plugin is loaded; require it outside of functions"
            } else {
                continue
            }
            // Another function may be called during loading, when both are allowed.
            if scopes.hook(around: use.function) != nil {
                report.error(place, words)
            } else {
                report.warn(place, words)
            }
        }
    }

    private static func permissions(
        _ bundle: PluginBundle, _ outlines: [(file: String, outline: LuaOutline)], _ report: inout CheckReport
    ) {
        var use = PermissionUse()
        for (file, outline) in outlines { use.add(outline, of: file) }
        let manifest = bundle.manifest
        var declared = PermissionUse.declared(manifest.permissions)
        // The configuration can name secrets too.
        let namesSecrets = manifest.configSchema.hasSecrets
        for (permission, place) in use.used.sorted(by: { $0.key < $1.key }) where !declared.contains(permission) {
            if permission == "secrets", namesSecrets { continue }
            report.error(
                "\(place.file):\(place.use.line)",
                "\(place.use.path.joined(separator: ".")) needs the permission \(permission) in \(PluginManifest.fileName)"
            )
        }
        declared.subtract(use.used.keys)
        // The text does not show the tables that decisions write to.
        let writes: Set<HookKind> = [
            .beforeEnqueue, .beforePush, .onConflict, .onPushError, .afterPull, .afterPullPage,
        ]
        if manifest.permissions.tables.values.contains(.readWrite), !writes.isDisjoint(with: manifest.hooks.keys) {
            declared.remove("tables")
        }
        for permission in declared.sorted() {
            report.warn(PluginManifest.fileName, "the permission \(permission) is not used")
        }
        for (name, file, line) in use.secrets where !manifest.permissions.secrets.contains(name) && !namesSecrets {
            report.error("\(file):\(line)", "the secret \(name) is not among the permissions")
        }
        for change in manifest.permissions.change.sorted()
        where PermissionUse.isSeen(change) && use.written[change] == nil {
            report.warn(PluginManifest.fileName, "the permission change: \(change) is not used")
        }
        if let place = use.responds, !manifest.permissions.change.contains(ChangePermission.pushAnswer.rawValue) {
            report.warn(
                "\(place.file):\(place.use.line)",
                "decide.respond to a push needs the permission change: \(ChangePermission.pushAnswer.rawValue)")
        }
        for (change, place) in use.written.sorted(by: { $0.key < $1.key })
        where !manifest.permissions.change.contains(change) && ["req", "request"].contains(place.use.path[0]) {
            let what = place.use.argument.map { "the header \($0)" } ?? place.use.path.joined(separator: ".")
            report.warn(
                "\(place.file):\(place.use.line)", "to change \(what) may need the permission change: \(change)")
        }
    }

    private static func company(
        _ bundle: PluginBundle, _ fixtures: [PluginFixture], _ report: inout CheckReport
    ) {
        // The hook of an unreadable fixture is unknown.
        guard fixtures.count == bundle.fixtures.count else { return about(bundle, &report) }
        let tested = Set(fixtures.map(\.hook))
        for kind in HookKind.allCases where bundle.manifest.hooks[kind] != nil && !tested.contains(kind) {
            if kind == .initialize, !fixtures.isEmpty { continue }
            report.warn("tests", "no fixture calls \(kind.rawValue)")
        }
        about(bundle, &report)
    }

    /// Warns of values in fixtures of `to_wire` that `from_wire` does not bring back.
    private static func roundTrips(
        _ bundle: PluginBundle, _ fixtures: [PluginFixture], _ report: inout CheckReport
    ) async {
        for fixture in fixtures where fixture.hook == .toWire && fixture.expectation.error == nil {
            guard let trial = try? FixtureTrial(fixture, bundle, dialect: .azureV2, tables: []),
                let outcome = try? await trial.outcome(in: FixtureWorld(fixture.world)), let answer = outcome.answer,
                answer.back != fixture.given.value["value"]
            else { continue }
            report.warn(fixture.path, "from_wire does not bring back the value that to_wire was called with")
        }
    }

    private static func about(_ bundle: PluginBundle, _ report: inout CheckReport) {
        if bundle.files["README.md"] == nil { report.warn("README.md", "there is none") }
        if bundle.manifest.summary == nil { report.warn(PluginManifest.fileName, "there is no description") }
    }
}

extension ConfigSchema {
    /// Whether a configuration can name secrets.
    var hasSecrets: Bool { Self.hasSecrets(root) }

    private static func hasSecrets(_ node: SchemaNode) -> Bool {
        var others: [SchemaNode] = []
        if case .each(let nodes) = node.others { others = nodes }
        return node.format == .secret || (node.properties.map(\.node) + node.items + others).contains(where: hasSecrets)
    }
}

/// The result of a bundle's check.
public struct CheckReport: ToolReport {
    /// An error, or a note for the author.
    public struct Finding: Sendable, Hashable, Encodable {
        /// The severity of a finding.
        public enum Severity: String, Sendable, Hashable, Encodable {
            /// The plugin does not work.
            case error
            /// The plugin works, but something is unusual.
            case warning
        }

        /// The severity.
        public var severity: Severity
        /// The file, with the line if known: `main.lua:12`.
        public var place: String
        /// A description.
        public var message: String
    }

    /// The plugin, or the folder if its name is unknown.
    public let plugin: String
    /// The errors and warnings.
    public internal(set) var findings: [Finding] = []

    /// Whether the plugin works.
    public var isGood: Bool { !findings.contains { $0.severity == .error } }

    /// A line for each finding, and one with their counts.
    public var lines: [String] {
        let errors = findings.count { $0.severity == .error }
        return findings.map { "\($0.place): \($0.severity.rawValue): \($0.message)" }
            + ["\(plugin): \(errors.counted("error")), \((findings.count - errors).counted("warning"))"]
    }

    /// The report as JSON.
    public var json: JSON {
        ["plugin": JSON(plugin), "good": JSON(isGood), "findings": JSON(printing: findings)]
    }

    mutating func error(_ place: String, _ message: String) {
        findings.append(Finding(severity: .error, place: place, message: message))
    }

    mutating func warn(_ place: String, _ message: String) {
        findings.append(Finding(severity: .warning, place: place, message: message))
    }
}
