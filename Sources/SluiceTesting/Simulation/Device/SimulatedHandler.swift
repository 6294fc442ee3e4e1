internal import SluiceCore

/// A conflict handler as the simulator runs it: it may fail, take its time or decide at random, and the oracle hears
/// what it decided.
struct SimulatedHandler: ConflictHandler {
    let inner: (any ConflictHandler)?
    let device: SimulatedDevice
    let parts: SimulationParts

    /// How many built-in handlers there are, none among them.
    static let kinds = 5

    /// The built-in handler of that number.
    static func make(_ kind: Int) -> (any ConflictHandler)? {
        switch kind {
        case 1: FieldMerge(preferring: .client)
        case 2: FieldMerge()
        case 3: FieldMerge(preferring: .server)
        default: nil
        }
    }

    func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        let faults = parts.faults
        parts.oracle.met(conflict, on: device.index)
        if faults.strikes(.handlerEdits, of: device.index) {
            await device.edit([.update, .insert, .delete][parts.luck.below(3)], parts.luck.below(1 << 20))
            try await device.sleep(.seconds(parts.luck.below(100)))
        }
        if faults.strikes(.handlerThrows, of: device.index) { throw SimulatedMishap() }
        let decision =
            faults.strikes(.handlerGarbage, of: device.index)
            ? garbage(conflict) : try await inner?.decide(conflict) ?? .next
        parts.oracle.decided(conflict, decision, on: device.index)
        parts.trace.note(
            "decision", conflict.recordID, device.index,
            line: "  device \(device.index) decides \(conflict.table)/\(conflict.recordID): \(decision)")
        return decision
    }

    private func garbage(_ conflict: Conflict) -> ConflictDecision {
        switch parts.luck.below(9) {
        case 0: .server
        case 1: .client
        case 2: .delete
        case 3: .discard
        case 4: .defer
        case 5: .ask
        case 6: .abort
        case 7: .merge(["id": "someone else", "a": JSON(parts.oracle.newValue()), "version": "v999999"])
        default: .merge([1, "no record"])
        }
    }
}
