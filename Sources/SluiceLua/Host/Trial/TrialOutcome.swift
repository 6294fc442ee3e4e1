package import SluiceCore

/// What came of one call of a plugin that is tried out.
package struct TrialOutcome: Sendable {
    /// What the hook returned where that is a decision, as the script made it; of a merge by rules with the record that
    /// it comes to. Nil where it returned nothing, or an object that it was given.
    package var decision: JSON?
    /// The record as the plugin leaves it: of a decision, of an operation, of a pulled row; nil where there is none.
    package var record: JSON?
    /// The rows of a page as the plugin leaves them, and why those are dropped that are, by their places from 1.
    package var rows: [JSON] = []
    package var dropped: [Int: String] = [:]
    /// The requests as they went on, in order.
    package var requests: [Request] = []
    /// The answer as it went up.
    package var response: Response?
    /// Why the call failed.
    package var failure: PluginFailure?
    /// An error that is not the plugin's own: of `next`, or of `decide.fail`.
    package var error: SluiceError?
    /// What it logged.
    package var log: [PluginLogLine] = []
    /// What it added to the trace.
    package var trace = JSON.object
    /// The fuel that it used.
    package var fuel = 0
    /// The time of the thread that it used.
    package var cpuTime: Duration = .zero
    /// How often it waited.
    package var waits = 0
}
