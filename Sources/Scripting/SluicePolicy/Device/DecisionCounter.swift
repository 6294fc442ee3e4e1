internal import SluiceCore
package import SluiceLua
internal import Synchronization

/// Counts the decisions of the serving policy and of the one on trial, and compares the two.
package final class DecisionCounter: DecisionObserver {
    /// The ending of a shadow's name; the beginning is the plugin's.
    private static let ending = ".trial"
    /// The most decisions that wait for their counterpart.
    private static let mostOpen = 4_096

    private struct Key: Hashable {
        var plugin: String
        var hook: HookKind
        var input: String
        var record: RecordID?
    }

    private struct Open {
        var isTrial: Bool
        var decision: String
        var answer: String?
        var number: Int
    }

    private struct Counts {
        var serving = PolicyTally()
        var trial = PolicyTally()
        var open: [Key: Open] = [:]
        var number = 0
    }

    private let counts = Mutex(Counts())

    package init() {}

    /// Returns the plugins of a trial as shadows beside those that serve.
    package static func shadows(of trial: [PluginPlan], beside serving: [PluginPlan]) -> [PluginPlan] {
        let names = Set(serving.map(\.name))
        return trial.filter { $0.mode != .off }.map { $0.shadow(named: $0.name + ending, beside: names) }
    }

    /// The counts so far.
    package var tallies: (serving: PolicyTally, trial: PolicyTally) { counts.withLock { ($0.serving, $0.trial) } }

    /// Begins to count again.
    package func restart(serving: PolicyTally? = nil, trial: PolicyTally? = nil) {
        counts.withLock { counts in
            if let serving { counts.serving = serving }
            if let trial { (counts.trial, counts.open) = (trial, [:]) }
        }
    }

    package func counted(_ calls: Int, errors: Int, of plugin: String, isShadow: Bool) {
        let isTrial = plugin.hasSuffix(Self.ending) && isShadow
        if isShadow, !isTrial { return }
        counts.withLock { counts in
            let tally = isTrial ? \Counts.trial : \Counts.serving
            counts[keyPath: tally].calls += calls
            counts[keyPath: tally].errors += errors
        }
    }

    package func decided(_ decision: PluginDecision) {
        let isTrial = decision.plugin.hasSuffix(Self.ending) && decision.isShadow
        if decision.isShadow, !isTrial { return }
        counts.withLock { counts in
            if isTrial { counts.trial.count(decision) } else { counts.serving.count(decision) }
            compare(decision, isTrial: isTrial, &counts)
        }
    }

    private func compare(_ decision: PluginDecision, isTrial: Bool, _ counts: inout Counts) {
        // The serving policy may have no such plugin: its shadow's decisions are counted, and compared with nothing.
        let plugin = isTrial ? String(decision.plugin.dropLast(Self.ending.count)) : decision.plugin
        let key = Key(plugin: plugin, hook: decision.hook, input: decision.inputHash, record: decision.recordID)
        if let other = counts.open[key], other.isTrial != isTrial {
            counts.open[key] = nil
            counts.trial.compared += 1
            let (trial, serving) =
                isTrial ? (decision.decision, other.decision) : (other.decision, decision.decision)
            if trial != serving {
                counts.trial.differences["\(decision.hook.rawValue): \(trial), not \(serving)", default: 0] += 1
            } else if decision.answerHash != other.answer {
                counts.trial.differences["\(decision.hook.rawValue): another \(trial)", default: 0] += 1
            }
            return
        }
        counts.number += 1
        counts.open[key] = Open(
            isTrial: isTrial, decision: decision.decision, answer: decision.answerHash, number: counts.number)
        guard counts.open.count > Self.mostOpen else { return }
        let oldest = counts.number - Self.mostOpen / 2
        counts.open = counts.open.filter { $0.value.number > oldest }
    }
}

extension PolicyTally {
    fileprivate static let limits: Set<PluginFailure.Kind> = [.fuel, .burst, .cpu, .deadline, .memory]
    fileprivate static let holding: Set<String> = ["hold", "ask", "defer", "skip", "park"]

    /// Counts a decision.
    fileprivate mutating func count(_ decision: PluginDecision) {
        calls += 1
        if let failure = decision.failure {
            errors += 1
            if Self.limits.contains(failure.kind) { overruns += 1 }
        }
        if Self.holding.contains(decision.decision) { held += 1 }
        if ["reject", "refuse"].contains(decision.decision) { refused += 1 }
    }
}
