internal import CoreMetrics
internal import Logging
internal import SluiceCore

/// What a host takes from around it.
struct HostSettings: Sendable {
    /// Clock and chance.
    var environment: SyncEnvironment = .system
    /// Where plugins log, and the host says what it does.
    var logger = Logger(label: "sluice.plugins") { _ in SwiftLogNoOpLogHandler() }
    /// How many decisions are kept.
    var decisionLogSize = 512
    /// Whether what hooks were given and what they answered is kept with their decisions.
    var keepsInputs = false
    /// Where what plugins do is counted; nil for nowhere.
    var metrics: (any MetricsFactory)?
    /// Whether there is a transport for `http`.
    var hasTransport = false
    /// Whether there is a store for `store`.
    var hasStore = false
    /// Whether the script is a spec, which asks a plugin's hooks.
    var isSpec = false
    /// The seed of chance, for a host in which everything is to be repeatable; nil for the machine's.
    var seed: UInt64?
    /// Whether each guard is tried when a machine is made.
    var testsGuards = false
}
