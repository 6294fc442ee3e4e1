public import SluiceBase

/// What a scheduler has done in one run.
public struct ScheduledRun: Sendable {
    /// When it began.
    public var startedAt: Timestamp
    /// The push; nil if it could not begin.
    public var push: PushResult?
    /// The pulls that went through, in the schedule's order.
    public var pulls: [PullResult] = []
    /// What went wrong first; nil if all went well. Operations that the server refused for good are no error of the
    /// run: they are held, and the status shows it.
    public var error: SluiceError?
    /// When the next run is due, if nothing happens before.
    public var next: Timestamp
}
