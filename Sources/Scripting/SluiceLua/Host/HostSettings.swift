package import CoreMetrics
package import Logging
package import SluiceCore

/// What a host takes from around it.
package struct HostSettings: Sendable {
    /// Clock and chance.
    package var environment: SyncEnvironment = .system
    /// Where plugins log, and the host says what it does.
    package var logger = Logger(label: "sluice.plugins") { _ in SwiftLogNoOpLogHandler() }
    /// How many decisions are kept.
    package var decisionLogSize = 512
    /// Whether what hooks were given and what they answered is kept with their decisions.
    package var keepsInputs = false
    /// Where what plugins do is counted; nil for nowhere.
    package var metrics: (any MetricsFactory)?
    /// Whether there is a transport for `http`.
    package var hasTransport = false
    /// Whether there is a store for `store`.
    package var hasStore = false
    /// Whether the script is a spec, which asks a plugin's hooks.
    package var isSpec = false
    /// The seed of chance, for a host in which everything is to be repeatable; nil for the machine's.
    package var seed: UInt64?
    /// Whether each guard is tried when a machine is made.
    package var testsGuards = false

    package init() {}
}
