package import SluiceCore

/// A device's way from one policy to the next, as a pure state machine: it takes files, counts and times, and returns
/// the next actions. Its state is saved before an action takes effect, so that a process that ends anywhere goes on
/// with one whole policy.
///
/// A release is fetched and verified, tried as a shadow beside the serving policy, serves on probation, and stays. In
/// trial and probation it is withdrawn once its counts pass a bound. A withdrawn version is not taken again.
package struct PolicyDevice: Sendable {
    /// The stage of the newest release.
    package enum Stage: String, Sendable, Hashable {
        /// It serves, and nothing is on trial.
        case settled
        /// It is tried beside the serving policy.
        case trial
        /// It serves, and goes back by itself.
        case probation
    }

    /// The part of the state that outlives the process.
    package struct State: Sendable, Hashable {
        /// The version that serves; nil for the installed policy.
        package var serving: Int?
        /// The time at which it began to serve; nil if that is not known.
        package var servingSince: Timestamp?
        /// The version on trial.
        package var trial: Int?
        /// The version to go back to in the probation; nil for the installed policy.
        package var previous: Int?
        /// The last version that has passed its probation; nil for the installed policy.
        package var settled: Int?
        /// Whether the serving version is on probation.
        package var isOnProbation = false
        /// The time that the trial has taken so far, and its counts.
        package var trialTime = Duration.zero
        package var trialTally = PolicyTally()
        /// The time that the probation has taken so far, and its counts.
        package var probationTime = Duration.zero
        package var probationTally = PolicyTally()
        /// The knowledge from earlier releases.
        package var past = PolicyTrust.Past()

        package init() {}

        /// The stage of the newest version.
        package var stage: Stage { trial != nil ? .trial : isOnProbation ? .probation : .settled }

        /// The versions whose files are needed.
        package var needed: Set<Int> {
            Set([serving, trial, settled, isOnProbation ? previous : nil].compactMap(\.self))
        }
    }

    /// The next action for the driver.
    package enum Effect: Sendable, Hashable {
        /// Save the file of a release, on the disk, before the state that names it.
        case keep(version: Int)
        /// Save the state.
        case save
        /// Run the version as a shadow beside the serving policy; nil ends the shadow.
        case shadow(Int?)
        /// Serve with the version; nil for the installed policy.
        case serve(Int?)
        /// Report an event.
        case report(Event)
    }

    /// An event, as reported and logged.
    package struct Event: Sendable, Hashable {
        package enum Kind: String, Sendable, Hashable {
            case taken, serving, settled, withdrawn, refused
        }
        package var kind: Kind
        package var version: Int?
        package var reason: String?

        package init(_ kind: Kind, _ version: Int? = nil, _ reason: String? = nil) {
            (self.kind, self.version, self.reason) = (kind, version, reason)
        }
    }

    package private(set) var state: State
    package let name: PolicyDeviceName
    package var trust: PolicyTrust
    package var bounds: PolicyBounds
    /// The refusal of the last file; nil if it was taken, or known. The same one is reported once.
    package private(set) var refusal: PolicyRefusal?
    /// The time of the latest counts in this process.
    private var latest: Timestamp?

    package init(_ state: State, _ name: PolicyDeviceName, _ trust: PolicyTrust, _ bounds: PolicyBounds) {
        (self.state, self.name, self.trust, self.bounds) = (state, name, trust, bounds)
    }

    /// Returns the actions with which the process begins.
    package func began() -> [Effect] { [.serve(state.serving)] + (state.trial.map { [.shadow($0)] } ?? []) }

    // MARK: Files

    /// Takes a file from the server.
    ///
    /// - Parameter check: refuses a release for another reason than its file, such as an invalid policy.
    /// - Returns: the actions, and the release if it is taken.
    package mutating func offered(
        _ bytes: [UInt8], at now: Timestamp, _ check: (PolicyRelease) throws(PolicyRefusal) -> Void = { _ in }
    ) -> (effects: [Effect], release: PolicyRelease?) {
        do throws(PolicyRefusal) {
            let release = try trust.release(from: bytes, for: name, at: now, after: state.past)
            // It is known. One whose file was lost, or that could not be served here, is taken once more.
            if [state.serving, state.trial].contains(release.version) {
                refusal = nil
                return ([], nil)
            }
            try check(release)
            refusal = nil
            latest = now
            return (take(release), release)
        } catch {
            return (refused(error), nil)
        }
    }

    /// Reports why a file is not taken.
    package mutating func refused(_ reason: PolicyRefusal) -> [Effect] {
        guard refusal != reason else { return [] }
        refusal = reason
        return [.report(Event(.refused, nil, "\(reason.kind.rawValue): \(reason.reason)"))]
    }

    private mutating func take(_ release: PolicyRelease) -> [Effect] {
        state.past.note(release)
        // The trial of an earlier version ends without a verdict.
        let endsTrial: [Effect] = state.trial == nil ? [] : [.shadow(nil)]
        (state.trial, state.trialTime, state.trialTally) = (release.version, .zero, PolicyTally())
        let taken = [.keep(version: release.version), .save, .report(Event(.taken, release.version))] + endsTrial
        return taken + (bounds.trial <= .zero ? serveTrial() : [.shadow(release.version)])
    }

    /// Notes that a kept version cannot be served, for a reason that is not its own: its file is damaged, or the deployment
    /// no longer grants what it asks for. It may be taken once more.
    package mutating func lost(_ version: Int) -> [Effect] {
        if version == state.trial {
            state.trial = nil
            return [.save, .shadow(nil)]
        }
        guard version == state.serving else { return [] }
        return replaceServing(else: version)
    }

    // MARK: Trial and probation

    /// Notes that the version cannot be loaded, or that its fixtures fail.
    package mutating func failedToLoad(_ version: Int, _ reason: String) -> [Effect] {
        // A version that has passed its probation did load: the fault is here.
        if version == state.settled { return lost(version) }
        if version == state.trial { return withdrawTrial(reason) }
        return version == state.serving ? withdrawServing(reason) : []
    }

    /// Takes the counts since trial and probation began, and judges them.
    ///
    /// - Parameter now: the time by any clock. A step of the clock counts as ten seconds at most, and backwards as nothing,
    ///   so the counts have to be given more often.
    package mutating func counted(serving: PolicyTally, trial: PolicyTally, at now: Timestamp) -> [Effect] {
        let step = min(max(.zero, (latest ?? now).duration(to: now)), .seconds(10))
        latest = now
        return judgeServing(serving, step) + judgeTrial(trial, step)
    }

    private mutating func judgeServing(_ tally: PolicyTally, _ step: Duration) -> [Effect] {
        guard state.isOnProbation else { return [] }
        state.probationTally = tally
        state.probationTime += step
        if let excess = tally.excess(over: bounds) { return withdrawServing(excess) }
        guard state.probationTime >= bounds.probation else { return [] }
        (state.isOnProbation, state.previous, state.settled) = (false, nil, state.serving)
        return [.save, .report(Event(.settled, state.serving))]
    }

    private mutating func judgeTrial(_ tally: PolicyTally, _ step: Duration) -> [Effect] {
        guard state.trial != nil else { return [] }
        state.trialTally = tally
        state.trialTime += step
        if let excess = tally.excess(over: bounds) { return withdrawTrial(excess) }
        let isFull = bounds.decisions.map { tally.compared >= $0 } ?? false
        return isFull || state.trialTime >= bounds.trial ? serveTrial() : []
    }

    /// Ends the trial, and serves with its version.
    private mutating func serveTrial() -> [Effect] {
        guard let version = state.trial else { return [] }
        (state.previous, state.serving, state.trial) = (state.serving, version, nil)
        state.servingSince = latest
        beginProbation()
        return [.save, .shadow(nil), .serve(version), .report(Event(.serving, version))]
    }

    private mutating func beginProbation() {
        (state.isOnProbation, state.probationTime, state.probationTally) = (true, .zero, PolicyTally())
    }

    private mutating func withdrawTrial(_ reason: String) -> [Effect] {
        guard let version = state.trial else { return [] }
        state.past.withdraw(version, reason)
        state.trial = nil
        return [.save, .shadow(nil), .report(Event(.withdrawn, version, reason))]
    }

    private mutating func withdrawServing(_ reason: String) -> [Effect] {
        guard let version = state.serving else { return [] }
        state.past.withdraw(version, reason)
        return replaceServing(else: version) + [.report(Event(.withdrawn, version, reason))]
    }

    /// Serves with the version before one that cannot serve.
    private mutating func replaceServing(else version: Int) -> [Effect] {
        // The one before may still be on probation itself. It begins again, and falls back to the last settled version.
        (state.serving, state.servingSince) = (state.isOnProbation ? state.previous : nil, latest)
        if state.settled == version { state.settled = nil }
        if state.serving == state.settled {
            (state.isOnProbation, state.previous) = (false, nil)
        } else {
            state.previous = state.settled
            beginProbation()
        }
        // A swap ends the shadows beside the former set.
        let trial: [Effect] = state.trial.map { [.shadow($0)] } ?? []
        return [.save, .serve(state.serving)] + trial
    }
}
