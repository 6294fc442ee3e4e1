internal import Foundation
public import SluiceCore
public import SluiceLua

/// What a tool works on: one bundle, all bundles of a folder, or those of a deployment's policy.
public struct PluginTarget: Sendable {
    /// The plugins, each with what the deployment makes of it.
    public let plans: [PluginPlan]
    /// The policy, where the path is one.
    public let policy: PluginPolicy?
    /// The bundles, where the path is no policy.
    public let bundles: [PluginBundle]

    /// The plugins with what a deployment makes of each; nil for a bundle by itself.
    public var subjects: [(bundle: PluginBundle, plan: PluginPlan?)] {
        policy == nil ? bundles.map { ($0, nil) } : plans.map { ($0.bundle, $0) }
    }

    /// Finds what there is at a path: a file ending in `.yaml` or `.yml` is a policy, a folder with a manifest a
    /// bundle, and another folder one with bundles in it.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where there is none, or one of them cannot be read.
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

    /// The folders with a manifest: the path itself, or those in it.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where there is none.
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
