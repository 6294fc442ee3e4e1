public import SluiceCore
public import SluiceLua

/// Looks a bundle over without a fixture having to be there: whether it can be read, compiled and loaded, whether the
/// names that it uses are there, whether its permissions are those that it uses, and whether the sandbox holds.
public struct PluginCheck: Sendable {
    private let folder: String

    /// A check of the bundle in a folder.
    public init(folder: String) { self.folder = folder }

    /// Looks it over.
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

    /// Looks a bundle over that was read.
    public static func run(_ bundle: PluginBundle) async -> CheckReport {
        var report = CheckReport(plugin: bundle.manifest.name)
        let fixtures = read(bundle, &report)
        await load(bundle, fixtures, &report)
        names(bundle, &report)
        company(bundle, fixtures, &report)
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
        return fixtures
    }

    /// Loads the plugin as it is deployed, with the first configuration that it takes: none, or that of a fixture.
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
                // Nothing but `init` depends on the configuration.
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
            // What is no Lua has been refused by the machine.
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

    /// What a text does in hooks that is an error there: members that are not there, globals, modules that come too
    /// late.
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
            // Another function may be called while the plugin is loaded, where both can be done.
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
        // What decisions write to is not seen in the text.
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
        // Of a fixture that cannot be read nobody knows which hook it calls.
        guard fixtures.count == bundle.fixtures.count else { return about(bundle, &report) }
        let tested = Set(fixtures.map(\.hook))
        for kind in HookKind.allCases where bundle.manifest.hooks[kind] != nil && !tested.contains(kind) {
            if kind == .initialize, !fixtures.isEmpty { continue }
            report.warn("tests", "no fixture calls \(kind.rawValue)")
        }
        about(bundle, &report)
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

/// What a check of a bundle has found.
public struct CheckReport: ToolReport {
    /// Something that is wrong, or that its author may want to know.
    public struct Finding: Sendable, Hashable {
        /// How bad it is.
        public enum Severity: String, Sendable, Hashable {
            /// The plugin does not work as it is.
            case error
            /// It works, and something about it is odd.
            case warning
        }

        /// How bad it is.
        public var severity: Severity
        /// The file, with the line where there is one: `main.lua:12`.
        public var place: String
        /// What it is.
        public var message: String
    }

    /// The plugin, or the folder where it has no name yet.
    public let plugin: String
    /// What was found.
    public internal(set) var findings: [Finding] = []

    /// Whether the plugin works.
    public var isGood: Bool { !findings.contains { $0.severity == .error } }

    /// A line for each finding, and one that counts them.
    public var lines: [String] {
        let errors = findings.count { $0.severity == .error }
        return findings.map { "\($0.place): \($0.severity.rawValue): \($0.message)" }
            + ["\(plugin): \(errors.counted("error")), \((findings.count - errors).counted("warning"))"]
    }

    /// The same for a program.
    public var json: JSON {
        [
            "plugin": JSON(plugin), "good": JSON(isGood),
            "findings": JSON(
                findings.map { finding in
                    [
                        "severity": JSON(finding.severity.rawValue), "place": JSON(finding.place),
                        "message": JSON(finding.message),
                    ]
                }),
        ]
    }

    mutating func error(_ place: String, _ message: String) {
        findings.append(Finding(severity: .error, place: place, message: message))
    }

    mutating func warn(_ place: String, _ message: String) {
        findings.append(Finding(severity: .warning, place: place, message: message))
    }
}
