package import CoreMetrics
package import Logging
package import SluiceCore

/// The settings and surroundings of a host.
package struct HostSettings: Sendable {
    /// The clock and the source of random numbers.
    package var environment: SyncEnvironment = .system
    /// The logger of plugins and of the host.
    package var logger = Logger(label: "sluice.plugins") { _ in SwiftLogNoOpLogHandler() }
    /// The number of decisions kept in memory.
    package var decisionLogSize = 512
    /// Whether the inputs and answers of hooks are kept with their decisions.
    package var keepsInputs = false
    /// The factory of the plugins' metrics; nil for none.
    package var metrics: (any MetricsFactory)?
    /// Whether the host has a transport for `http`.
    package var hasTransport = false
    /// Whether the host has a store for `store`.
    package var hasStore = false
    /// The seed of random numbers, for a host that must be repeatable; nil for the system's.
    package var seed: UInt64?
    /// Whether the guards of each new machine are tested.
    package var testsGuards = false

    package init() {}
}
