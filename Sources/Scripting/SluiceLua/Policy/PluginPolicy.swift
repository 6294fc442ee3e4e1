internal import Foundation
internal import SluiceConfiguration
public import SluiceCore

/// What a deployment makes of its plugins: which there are, how they are configured and ordered, what becomes of their
/// failures, and how little they may cost. The operator's file, in YAML; docs/plugins-policy.md has it by example.
public struct PluginPolicy: Sendable {
    /// Where the plugins run.
    public let deployment: Deployment
    /// Where decisions are written; nil where the policy says nothing of it.
    public let decisionLog: DecisionLog?
    /// The plugins by name, those that are switched off with the others.
    public let plans: [PluginPlan]
    /// Where the file speaks of each plugin.
    private let places: [String: String]

    /// Reads a policy and all its bundles. Paths in it are relative to its folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` whose message begins with the file, line and column, and
    ///   says what was expected; in a bundle or its manifest, with that file and the JSON pointer.
    public init(file path: String) throws(SluiceError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try self.init(ConfigurationFile(path: path), folder: folder)
    }

    /// Reads a policy's text. `file` is the name that errors begin with, `folder` what paths are relative to.
    ///
    /// - Throws: ``SluiceError`` as ``init(file:)``.
    public init(yaml text: String, file: String, folder: String) throws(SluiceError) {
        try self.init(ConfigurationFile(name: file, text: text), folder: folder)
    }

    /// Reads a policy's text, with bundles that are here already, by the plugins' names.
    init(yaml text: String, file: String, folder: String, bundles: [String: PluginBundle]) throws(SluiceError) {
        try self.init(ConfigurationFile(name: file, text: text), folder: folder, bundles: bundles)
    }

    private init(
        _ file: ConfigurationFile, folder: String, bundles: [String: PluginBundle] = [:]
    ) throws(SluiceError) {
        let reader = try PolicyReader(file, folder: folder, bundles: bundles)
        deployment = reader.deployment
        decisionLog = reader.decisionLog
        plans = reader.plans
        places = reader.places
    }

    /// The plugins that run, in shadow too.
    public var running: [PluginPlan] { plans.filter { $0.mode != .off } }

    /// A chain as calls pass it, with what stands in it beside the plugins; there the link is nil.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where the places contradict each other, or name what is not
    ///   there: ``ChainOrder/resolve(_:known:narrowestFirst:)``.
    public func order(
        _ chain: HookChain, beside others: [Placed<PluginPlan?>] = []
    ) throws(SluiceError) -> [Ordered<PluginPlan?>] {
        let links = running.compactMap { $0.placed(in: chain) } + others
        // A plugin may name one that has no hook in this chain, or that is switched off.
        let known = Set(plans.map(\.name))
        do throws(ChainFault) {
            return try ChainOrder.resolve(links, known: known, isNarrowestFirst: chain == .conflict)
        } catch {
            let place = places[error.author].map { "\($0): " } ?? ""
            throw SluiceError(.invalidArgument, "\(place)chain \(chain.rawValue): \(error.reason)")
        }
    }

    /// Checks the order of every chain.
    ///
    /// - Throws: ``SluiceError`` as ``order(_:beside:)``.
    public func check(beside others: [HookChain: [Placed<PluginPlan?>]] = [:]) throws(SluiceError) {
        for chain in HookChain.allCases { _ = try order(chain, beside: others[chain] ?? []) }
    }
}
