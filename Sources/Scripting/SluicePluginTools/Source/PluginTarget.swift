internal import Foundation
public import SluiceCore
public import SluiceLua

/// The input of a tool: one bundle, all bundles of a folder, or all of a deployment's policy.
public struct PluginTarget: Sendable {
    /// The plugins with the deployment's settings.
    public let plans: [PluginPlan]
    /// The policy, if the path is one.
    public let policy: PluginPolicy?
    /// The bundles that the path leads to.
    public let bundles: [PluginBundle]

    /// The plugins with the deployment's plans; nil for a bundle without a deployment.
    public var subjects: [(bundle: PluginBundle, plan: PluginPlan?)] {
        policy == nil ? bundles.map { ($0, nil) } : plans.map { ($0.bundle, $0) }
    }

    /// Reads the plugins at a path. A file ending in `.yaml` or `.yml` is a policy. A folder with a manifest is a
    /// bundle. Any other folder contains bundles.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if there are none, or one of them cannot be read.
    public init(_ path: String) throws(SluiceError) {
        if path.hasSuffix(".yaml") || path.hasSuffix(".yml") {
            let policy = try PluginPolicy(file: path)
            self.policy = policy
            plans = policy.plans
            bundles = policy.plans.map(\.bundle)
            return
        }
        policy = nil
        plans = []
        var bundles: [PluginBundle] = []
        for folder in try Self.folders(path) { bundles.append(try PluginBundle(folder: folder)) }
        self.bundles = bundles
    }

    /// Returns the folders with a manifest: the path itself, or folders in it.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if there are none.
    public static func folders(_ path: String) throws(SluiceError) -> [String] {
        func isBundle(_ path: String) -> Bool {
            FileManager.default.fileExists(atPath: "\(path)/\(PluginManifest.fileName)")
        }
        if isBundle(path) { return [path] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let folders = names.filter { !$0.hasPrefix(".") }.sorted().map { "\(path)/\($0)" }.filter(isBundle)
        guard !folders.isEmpty else {
            throw SluiceError(
                .invalidArgument, "\(path): there is no \(PluginManifest.fileName) in it, nor in a folder of it")
        }
        return folders
    }
}

extension PluginPlan {
    /// Returns the plan for tests by tools: its answers take effect, whatever mode the deployment sets.
    func tried(in deployment: Deployment = Deployment()) -> PluginPlan {
        var plan = self
        plan.mode = .enforce
        if deployment != Deployment() { plan.deployment = deployment }
        return plan
    }

    /// Returns the plan with the limits of another plan for the same bundle.
    func limited(as other: PluginPlan?) -> PluginPlan {
        guard let other else { return self }
        var plan = self
        (plan.memoryBytes, plan.loadBudget) = (other.memoryBytes, other.loadBudget)
        for (kind, hook) in other.hooks { plan.hooks[kind]?.budget = hook.budget }
        return plan
    }
}
