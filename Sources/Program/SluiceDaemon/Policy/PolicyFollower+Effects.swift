internal import CoreMetrics
internal import Logging
internal import Sluice
internal import SluiceLua
internal import SluicePolicy

extension PolicyFollower {
    /// Carries out effects, after those that are under way: two swaps at once would refuse each other.
    func carryOut(_ effects: [PolicyDevice.Effect]) async {
        pending += effects
        if isCarryingOut { return }
        isCarryingOut = true
        defer { isCarryingOut = false }
        while !pending.isEmpty {
            switch pending.removeFirst() {
            case .keep: break
            case .save:
                // Nothing takes effect that a restart would not find.
                while !save() {
                    guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                }
            case .shadow(let version): await shadow(version)
            case .serve(let version): await serve(version)
            case .report(let event): report(event)
            }
        }
    }

    /// Saves the state, and returns whether it did.
    func save() -> Bool {
        do throws(SluiceError) {
            try folder.save(device.state)
            unsaved = nil
            return true
        } catch {
            if unsaved != error.message { logger.error("the state of the policy cannot be saved: \(error)") }
            unsaved = error.message
            return false
        }
    }

    private func shadow(_ version: Int?) async {
        guard let version else {
            if trialPlans.isEmpty { return }
            trialPlans = []
            counter.countTrial(nil, from: PolicyTally())
            _ = try? await plugins.reload(servingPlans)
            return
        }
        guard let plans = plans(of: version) else { return }
        counter.countTrial(version, from: device.state.trialTally)
        do {
            try await plugins.reload(servingPlans + DecisionCounter.shadows(of: plans, beside: servingPlans))
            trialPlans = plans
        } catch {
            failed(version, error)
        }
    }

    private func serve(_ version: Int?) async {
        guard let plans = version.map({ plans(of: $0) }) ?? installed else { return }
        counter.countServing(version, from: device.state.probationTally)
        do {
            if plans.map(\.identity) != plugins.plans.map(\.identity) {
                let before = servingPlans
                try await plugins.reload(plans)
                for line in PermissionChanges.lines(from: before, to: plans) { logger.notice("\(line)") }
            }
            (servingPlans, trialPlans) = (plans, [])
        } catch {
            if let version { return failed(version, error) }
            logger.error("the installed policy does not load: \(CommandText.reason(error))")
        }
    }

    /// Returns the plans of a kept version; nil if its file is lost, or the deployment does not grant what it asks for. That
    /// is no fault of its own, and it may be taken once more.
    private func plans(of version: Int) -> [PluginPlan]? {
        do {
            return try settings.plans(of: version, in: folder)
        } catch {
            logger.error("policy \(version) cannot be served: \(CommandText.reason(error))")
            drop(version, device.lost(version))
            return nil
        }
    }

    private func failed(_ version: Int, _ error: any Error) {
        drop(version, device.failedToLoad(version, CommandText.reason(error)))
    }

    /// Continues with the actions for a version that does not serve.
    private func drop(_ version: Int, _ effects: [PolicyDevice.Effect]) {
        pending.removeAll { $0 == .report(.init(.serving, version)) }
        pending += effects
        fetchesWhole = true
    }

    private func report(_ event: PolicyDevice.Event) {
        eventCount += 1
        events.insert((SyncEnvironment.system.now(), event), at: 0)
        if events.count > 100 { events.removeLast() }
        Counter(label: "sluice.policy.events", dimensions: [("event", event.kind.rawValue)], factory: metrics)
            .increment()
        Gauge(label: "sluice.policy.version", factory: metrics).record(device.state.serving ?? 0)
        let version = event.version.map { " \($0)" } ?? ""
        let text = "policy\(version) \(event.kind.rawValue)\(event.reason.map { ": \($0)" } ?? "")"
        if event.kind == .refused || event.kind == .withdrawn {
            logger.warning("\(text)")
        } else {
            logger.notice("\(text)")
        }
    }
}
