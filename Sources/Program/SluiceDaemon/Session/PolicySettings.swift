internal import Foundation
package import Sluice
internal import SluiceConfiguration
internal import SluiceLua
internal import SluicePluginTools
package import SluicePolicy

/// The settings of an endpoint's policy from afar: where releases come from, whose are trusted, and the bounds within
/// which one serves.
package struct PolicySettings: Sendable {
    /// The place of the releases.
    package enum Source: Sendable {
        /// A file of any web server.
        case url(String)
        /// A row of a synced table: its table, its id, and its column with the file.
        case table(String)
    }

    /// The place of the device's status.
    enum StatusTarget: Sendable {
        /// A row of a synced table.
        case table(String)
        /// An address that takes the row as JSON, and the file with the token for it.
        case url(String, tokenFile: String?)

        /// The table; nil for an address.
        var table: String? { if case .table(let table) = self { table } else { nil } }
    }

    package let source: Source
    /// The folder with the kept releases and the state.
    package let folder: String
    package let every: Duration
    package let bounds: PolicyBounds
    /// The deployment's grants; nil if plugins may have what they ask for.
    package let grants: PluginGrants?
    private let grantsFile: String?
    /// The place for the device's row; nil for none.
    let status: StatusTarget?
    let statusEvery: Duration
    /// The number of the newest decisions in the row.
    let statusDecisions: Int
    /// The bytes of a day's rows, after which they are short; nil for no limit.
    let statusDailyBytes: Int?
    private let keys: [String]
    private let required: Int
    private let release: String?
    private let device: String?
    private let labels: [String: String]

    /// Reads the settings; nil if no source is configured.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`, with the place of a mistake.
    init?(_ values: SettingValues, store: String?) throws {
        func refuse(_ key: String, _ reason: String) -> SluiceError {
            SluiceError(.invalidArgument, "\(values.origin(key)): \(reason)")
        }
        switch (values.text("policy.url"), values.text("policy.table")) {
        case (nil, nil): return nil
        case (let url?, nil): source = .url(url)
        case (nil, let table?): source = .table(table)
        case (_?, _?): throw refuse("policy.url", "a policy comes from policy.url or from policy.table, not both")
        }
        func check(_ url: String, _ key: String) throws {
            do {
                _ = try PolicyDownload.parts(url)
            } catch {
                throw refuse(key, error.message)
            }
        }
        if case .url(let url) = source { try check(url, "policy.url") }
        guard let folder = try values.path("policy.folder") ?? store.map({ "\($0).policy" }) else {
            throw refuse("policy.url", "a policy needs policy.folder, or a store beside which its folder is")
        }
        self.folder = folder
        keys = try values.paths("policy.keys")
        guard !keys.isEmpty else {
            throw refuse("policy.url", "a policy needs policy.keys: files of the keys whose releases are trusted")
        }
        required = values.integer("policy.required")
        guard required <= keys.count else {
            throw refuse(
                "policy.required", "\(required) signatures are required, and only \(keys.count) keys are trusted")
        }
        (release, device) = (values.text("policy.name"), values.text("policy.device"))
        var labels: [String: String] = [:]
        for label in values.list("policy.labels") ?? [] {
            let parts = label.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { throw refuse("policy.labels", "a label is NAME=VALUE, such as ring=canary") }
            labels[String(parts[0])] = String(parts[1])
        }
        self.labels = labels
        every = values.duration("policy.every")
        var bounds = PolicyBounds()
        bounds.trial = values.duration("policy.trial")
        bounds.decisions = values.number("policy.trial-decisions")
        bounds.probation = values.duration("policy.probation")
        bounds.least = values.integer("policy.least-calls")
        func share(_ key: String) throws -> Double {
            guard let share = values.text(key).flatMap(PolicyAudience.share) else {
                throw refuse(key, "expected a share such as 1% or 0.5%")
            }
            return Double(share) / Double(PolicyAudience.all)
        }
        bounds.differences = try share("policy.most-differences")
        bounds.errors = try share("policy.most-errors")
        bounds.overruns = try share("policy.most-overruns")
        bounds.held = try share("policy.most-held")
        bounds.refused = try share("policy.most-refused")
        self.bounds = bounds
        grantsFile = try values.path("policy.grants")
        grants = try grantsFile.map { path throws(SluiceError) in try PluginGrants(file: path) }
        let tokenFile = try values.path("policy.status-token-file")
        switch (values.text("policy.status-table"), values.text("policy.status-url")) {
        case (nil, nil): status = nil
        case (let table?, nil): status = .table(table)
        case (nil, let url?):
            try check(url, "policy.status-url")
            status = .url(url, tokenFile: tokenFile)
        case (_?, _?):
            throw refuse(
                "policy.status-url", "the status goes to policy.status-table or to policy.status-url, not both")
        }
        if tokenFile != nil, values.text("policy.status-url") == nil {
            throw refuse("policy.status-token-file", "the token is for policy.status-url, and none is configured")
        }
        statusEvery = values.duration("policy.status-every")
        statusDecisions = values.integer("policy.status-decisions")
        statusDailyBytes = values.number("policy.status-daily-bytes")
    }

    /// The files whose change needs a new reading.
    var files: [String] { keys + [grantsFile].compactMap(\.self) }

    /// Returns the trusted keys, read from their files.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file.
    package func trust() throws(SluiceError) -> PolicyTrust {
        PolicyTrust(
            try keys.map { path throws(SluiceError) in try PolicyTrust.Entry(file: path) }, required: required,
            name: release)
    }

    /// Returns the device's name. An id that no setting gives is made by chance once, and kept in the folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if it cannot be kept.
    package func deviceName(in folder: PolicyFolder) throws(SluiceError) -> PolicyDeviceName {
        if let device { return PolicyDeviceName(id: device, labels: labels) }
        return PolicyDeviceName(id: try folder.deviceID(), labels: labels)
    }

    /// Returns the plans of a kept version, within the deployment's grants.
    ///
    /// - Throws: ``SluiceError`` for a file that is lost or damaged, ``PolicyRefusal`` for an invalid policy and for a
    ///   plugin that asks for more.
    func plans(of version: Int, in folder: PolicyFolder) throws -> [PluginPlan] {
        let release = try folder.release(version)
        let name = try deviceName(in: folder)
        try check(release, for: name)
        return try release.read(for: Deployment(id: name.id, labels: name.labels)).plans.map { plan in
            var plan = plan
            plan.release = version
            return plan
        }
    }

    /// Checks that a release's policy is valid, and stays within the deployment's grants.
    func check(_ release: PolicyRelease, for name: PolicyDeviceName) throws(PolicyRefusal) {
        let policy: PluginPolicy
        do throws(SluiceError) {
            policy = try release.read(for: Deployment(id: name.id, labels: name.labels))
        } catch {
            throw PolicyRefusal(.invalid, error.message)
        }
        try grants?.check(policy, of: release)
    }

    /// Returns the plans of the version that the device serves with; those of the installed policy if there is none, or
    /// one that cannot be read.
    ///
    /// - Parameter hasTrial: whether the version on trial runs beside it, as a shadow.
    func plans(insteadOf installed: [PluginPlan], hasTrial: Bool) throws -> [PluginPlan] {
        let folder = try PolicyFolder(folder)
        let state = try folder.state()
        let serving = state.serving.flatMap { try? plans(of: $0, in: folder) } ?? installed
        guard hasTrial, let trial = state.trial.flatMap({ try? plans(of: $0, in: folder) }) else { return serving }
        return serving + DecisionCounter.shadows(of: trial, beside: serving)
    }

    /// The file of the daemon's decisions where the installed policy names none.
    var decisionLog: DecisionLog { DecisionLog("\(folder)/decisions.jsonl") }

    /// The file of the commands' decisions, which the daemon counts.
    var commandLog: DecisionLog { DecisionLog("\(folder)/commands.jsonl") }
}
