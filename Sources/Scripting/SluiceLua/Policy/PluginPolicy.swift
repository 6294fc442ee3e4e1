internal import Foundation
internal import SluiceConfiguration
public import SluiceCore

/// A deployment's policy for its plugins: their list, configuration, order, error policies and lower limits. It is the
/// operator's file, in YAML; docs/plugins-policy.md explains it by example.
public struct PluginPolicy: Sendable {
    /// The deployment that the plugins run in.
    public let deployment: Deployment
    /// The file for decisions; nil if the policy names none.
    public let decisionLog: DecisionLog?
    /// The plugins by name, disabled ones included.
    public let plans: [PluginPlan]
    /// The position of each plugin's entry in the file.
    private let places: [String: String]

    /// Reads a policy and all its bundles. Paths in it are relative to its folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` whose message begins with the file, line and column, and
    ///   names the expectation. For a bundle or its manifest it names that file and the JSON pointer.
    public init(file path: String) throws(SluiceError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try self.init(ConfigurationFile(path: path), folder: folder)
    }

    /// Reads a policy's text. Errors begin with `file`; paths are relative to `folder`.
    ///
    /// - Throws: the errors of ``init(file:)``.
    public init(yaml text: String, file: String, folder: String) throws(SluiceError) {
        try self.init(ConfigurationFile(name: file, text: text), folder: folder)
    }

    /// Reads a policy's text, with bundles already in memory, by the plugins' names.
    init(yaml text: String, file: String, folder: String, bundles: [String: PluginBundle]) throws(SluiceError) {
        try self.init(ConfigurationFile(name: file, text: text), folder: folder, bundles: bundles)
    }

    /// Reads the policy of a release: its text, and bundles by the plugins' names, which are all that it may name.
    ///
    /// - Parameter device: the deployment in place of the policy's own.
    /// - Throws: the errors of ``init(file:)``; also for a plugin without a bundle, and a file for decisions.
    package init(
        release text: String, named name: String, bundles: [String: PluginBundle], deployment device: Deployment?
    ) throws(SluiceError) {
        try self.init(ConfigurationFile(name: name, text: text), folder: ".", bundles: bundles, device)
        if decisionLog != nil {
            throw SluiceError(
                .invalidArgument, "\(name): a release has no decisions: each device has a file of its own")
        }
    }

    private init(
        _ file: ConfigurationFile, folder: String, bundles: [String: PluginBundle]? = nil, _ device: Deployment? = nil
    ) throws(SluiceError) {
        let reader = try PolicyReader(file, folder: folder, bundles: bundles, device)
        deployment = reader.deployment
        decisionLog = reader.decisionLog
        plans = reader.plans
        places = reader.places
    }

    /// The plugins that run, shadows included.
    public var running: [PluginPlan] { plans.filter { $0.mode != .off } }

    /// Returns a chain in calling order, with the other links in it; their `link` is nil.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the places contradict each other or name unknown links:
    ///   docs/plugins-policy.md has the rules.
    public func order(
        _ chain: HookChain, beside others: [Placed<PluginPlan?>] = []
    ) throws(SluiceError) -> [Ordered<PluginPlan?>] {
        let links = running.compactMap { $0.placed(in: chain) } + others
        // A plugin may name another that has no hook in this chain, or that is disabled.
        let known = Set(plans.map(\.name))
        do throws(ChainFault) {
            return try ChainOrder.ordered(links, known: known)
        } catch {
            let place = places[error.author].map { "\($0): " } ?? ""
            throw SluiceError(.invalidArgument, "\(place)chain \(chain.rawValue): \(error.reason)")
        }
    }

    /// Checks the order of every chain.
    ///
    /// - Throws: the errors of ``order(_:beside:)``.
    public func check(beside others: [HookChain: [Placed<PluginPlan?>]] = [:]) throws(SluiceError) {
        for chain in HookChain.allCases { _ = try order(chain, beside: others[chain] ?? []) }
    }
}

/// A size in a policy: a number of bytes, or one with `KiB` or `MiB` after it.
enum ByteSize {
    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("", 1)]

    /// Returns the bytes; nil if the text is no size.
    static func bytes(_ text: String) -> Int? {
        guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }),
            let count = Int(text.dropLast(unit.count)), count >= 0
        else { return nil }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: factor)
        return overflows ? nil : bytes
    }
}
