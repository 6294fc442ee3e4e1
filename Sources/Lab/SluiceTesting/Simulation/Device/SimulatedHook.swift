internal import SluiceCore

/// A hook that allows everything.
struct SimulatedPassage: SyncHook {
    let hookName = "passage"
}

/// A hook as the simulator runs it: before the inner hook is called it may fail, or return another decision.
struct SimulatedHook: SyncHook {
    let inner: any SyncHook
    let device: SimulatedDevice
    let parts: SimulationParts

    var hookName: String { inner.hookName }

    func wants(_ point: HookPoint, table: String) -> Bool { inner.wants(point, table: table) }

    /// Whether a mishap replaces the hook's own decision. Without mishaps no random number is drawn.
    private func isOff(_ point: HookPoint, _ record: RecordID) async throws -> Bool {
        let probability = parts.hookMishaps
        guard probability > 0, parts.faults.strikes(probability) else { return false }
        parts.trace.note(
            "hook", record.text, device.index,
            line: "  device \(device.index): the hook \(hookName) is off at \(point.rawValue) of \(record)")
        if parts.random.below(4) == 0 { try await device.sleep(.milliseconds(parts.random.below(3000))) }
        if parts.random.below(2) == 0 { throw SimulatedMishap() }
        return true
    }

    func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
        _ = try await isOff(.beforeEnqueue, change.recordID)
        return try await inner.beforeEnqueue(change)
    }

    func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision {
        guard try await isOff(.beforePush, operation.recordID) else {
            return try await inner.beforePush(operation, record: record)
        }
        switch parts.random.below(4) {
        case 0: return .changeKind(operation.kind, record)
        case 1: return .defer(.seconds(parts.random.below(9)), reason: "later")
        default: return .skip(reason: "not now")
        }
    }

    func onPushError(_ failure: PushResult.Failure) async throws -> PushErrorDecision {
        guard try await isOff(.onPushError, failure.operation.recordID) else {
            return try await inner.onPushError(failure)
        }
        switch parts.random.below(6) {
        case 0: return .retry(after: .zero)
        case 1: return .retry(after: .seconds(parts.random.below(9)))
        case 2: return .cancelAndDiscard
        case 3: return .changeKind(failure.operation.kind, failure.record)
        case 4: return .abort
        default: return .park(reason: "not fit")
        }
    }

    func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
        if try await isOff(.afterPull, RecordID(page.table)), parts.random.below(2) == 0 { return [] }
        return try await inner.afterPull(page)
    }
}
