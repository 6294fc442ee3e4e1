public import SluiceBase

/// What a scheduler has done in one run.
public struct ScheduledRun: Sendable {
    /// When it began.
    public var startedAt: Timestamp
    /// The push; nil if it could not begin.
    public var push: PushResult?
    /// The pulls that went through, in the schedule's order.
    public var pulls: [PullResult] = []
    /// The errors of the push and of pulls, in the order of the run; each names its table. A table that fails
    /// stops no other. Operations that the server refused for good are no error of the run: they are held, and the status
    /// shows it.
    public internal(set) var errors: [SluiceError] = []
    /// The first error; nil if all went well.
    public var error: SluiceError? { errors.first }
    /// When the next run is due, if nothing happens before.
    public var next: Timestamp

    /// A run that has just begun.
    init(startedAt: Timestamp) {
        self.startedAt = startedAt
        next = startedAt
    }
}

extension SluiceError {
    /// Whether what comes after it in a run would fail for the same reason, whatever table it is of: there is no network
    /// or no store, or the task is over.
    package var endsRun: Bool { code == .network || code == .cancelled || code.isStore }
}
