internal import SluiceCore

/// A conflict handler as the simulator runs it: it may fail, take its time or decide at random, and the checker is told
/// its decision.
struct SimulatedHandler: ConflictHandler {
    let inner: (any ConflictHandler)?
    let device: SimulatedDevice
    let parts: SimulationParts

    /// The number of built-in handlers, counting none as one.
    static let kinds = 6

    /// Returns the built-in handler of that number.
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
            await device.edit([.update, .insert, .delete][parts.random.below(3)], parts.random.below(1 << 20))
            try await device.sleep(.seconds(parts.random.below(100)))
        }
        if faults.strikes(.handlerThrows, of: device.index) { throw SimulatedMishap() }
        let isRandom =
            faults.strikes(.handlerGarbage, of: device.index)
            || parts.setting.handler == Self.kinds - 1 && faults.strikes(0.8)
        let decision = isRandom ? anything(conflict) : try await inner?.decide(conflict) ?? .next
        if !isRandom, !parts.configuration.conflictHandlers.isEmpty { judge(decision, conflict) }
        parts.oracle.decided(
            conflict.operation.id, of: device.key(of: conflict.operation), conflict.client,
            decision, on: device.index)
        parts.trace.note(
            "decision", conflict.recordID.text, device.index,
            line: "  device \(device.index) decides \(conflict.table)/\(conflict.recordID): \(decision)")
        return decision
    }

    /// Checks H1: a handler under test deletes no record, and leaves out no property, that both sides have.
    private func judge(_ decision: ConflictDecision, _ conflict: Conflict) {
        guard let client = conflict.client, let server = conflict.server, !conflict.isDeletedOnServer else { return }
        let record = "device \(device.index), \(conflict.table)/\(conflict.recordID)"
        if decision == .delete {
            parts.oracle.violate(.handlers, "\(record): a handler deletes what neither side has deleted")
        }
        guard let merged = decision.given, merged.kind == .object else { return }
        let system = parts.dialect.pushColumns.system
        let dropped = client.names.first { name in
            let isOnBoth = [client[name], server[name]].allSatisfy { !($0 ?? .null).isNull }
            return name != "id" && !system.contains(name) && isOnBoth && (merged[name] ?? .null).isNull
        }
        if let dropped {
            parts.oracle.violate(.handlers, "\(record): a handler's merge leaves out \(dropped), which both sides have")
        }
    }

    /// Returns a random decision, sometimes with a value that is not a record.
    private func anything(_ conflict: Conflict) -> ConflictDecision {
        switch parts.random.below(9) {
        case 0: return .server
        case 1: return .client
        case 2: return .delete
        case 3: return .discard
        case 4: return .defer
        case 5: return .ask
        case 6: return .abort
        case 7: return .merge(SimulatedDevice.noRecords[parts.random.below(SimulatedDevice.noRecords.count)])
        default:
            var merged = conflict.client ?? conflict.server ?? ["id": JSON(conflict.recordID)]
            merged[parts.setting.fields.name("a")] = JSON(parts.oracle.newValue())
            merged[parts.server.service == nil ? "version" : "__version"] = "v999999"
            return .merge(merged)
        }
    }
}
