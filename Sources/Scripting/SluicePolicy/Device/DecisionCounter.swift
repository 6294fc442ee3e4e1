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
        var serving: (version: Int?, tally: PolicyTally) = (nil, PolicyTally())
        var trial: (version: Int?, tally: PolicyTally) = (nil, PolicyTally())
        var open: [Key: Open] = [:]
        var number = 0

        /// Returns the side that a plugin's calls count for; nil for those of a version that was replaced, some of which
        /// end after the swap, and for other shadows.
        func side(
            of plugin: String, _ release: Int?, isShadow: Bool
        ) -> WritableKeyPath<Counts, (version: Int?, tally: PolicyTally)>? {
            if isShadow {
                return plugin.hasSuffix(ending) && release != nil && release == trial.version ? \.trial : nil
            }
            return release == serving.version ? \.serving : nil
        }
    }

    private let counts = Mutex(Counts())

    package init() {}

    /// Returns the plugins of a trial as shadows beside those that serve.
    package static func shadows(of trial: [PluginPlan], beside serving: [PluginPlan]) -> [PluginPlan] {
        let names = Set(serving.map(\.name))
        return trial.filter { $0.mode != .off }.map { $0.shadow(named: $0.name + ending, beside: names) }
    }

    /// The counts so far.
    package var tallies: (serving: PolicyTally, trial: PolicyTally) {
        counts.withLock { ($0.serving.tally, $0.trial.tally) }
    }

    /// Begins to count for the version that serves; nil for the installed policy.
    package func countServing(_ version: Int?, from tally: PolicyTally) {
        counts.withLock { $0.serving = (version, tally) }
    }

    /// Begins to count for the version on trial; nil for none.
    package func countTrial(_ version: Int?, from tally: PolicyTally) {
        counts.withLock { ($0.trial, $0.open) = ((version, tally), [:]) }
    }

    package func counted(_ calls: Int, errors: Int, of plan: PluginPlan) {
        counts.withLock { counts in
            guard let side = counts.side(of: plan.name, plan.release, isShadow: plan.mode == .shadow) else { return }
            counts[keyPath: side].tally.calls += calls
            counts[keyPath: side].tally.errors += errors
        }
    }

    package func decided(_ decision: PluginDecision) {
        counts.withLock { counts in
            guard let side = counts.side(of: decision.plugin, decision.release, isShadow: decision.isShadow) else {
                return
            }
            counts[keyPath: side].tally.count(decision)
            if counts.trial.version != nil { compare(decision, isTrial: side == \Counts.trial, &counts) }
        }
    }

    private func compare(_ decision: PluginDecision, isTrial: Bool, _ counts: inout Counts) {
        // The serving policy may have no such plugin: its shadow's decisions are counted, and compared with nothing.
        let plugin = isTrial ? String(decision.plugin.dropLast(Self.ending.count)) : decision.plugin
        let key = Key(plugin: plugin, hook: decision.hook, input: decision.inputHash, record: decision.recordID)
        if let other = counts.open[key], other.isTrial != isTrial {
            counts.open[key] = nil
            counts.trial.tally.compared += 1
            let (trial, serving) =
                isTrial ? (decision.decision, other.decision) : (other.decision, decision.decision)
            if trial != serving {
                counts.trial.tally.differences["\(decision.hook.rawValue): \(trial), not \(serving)", default: 0] += 1
            } else if decision.answerHash != other.answer {
                counts.trial.tally.differences["\(decision.hook.rawValue): another \(trial)", default: 0] += 1
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
