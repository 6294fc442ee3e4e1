internal import SluiceBase

extension PushResult: CustomStringConvertible {
    /// The counts on one line, then the reasons of the first failures, without any record's content.
    public var description: String {
        var lines = ["push: \(counts)"]
        if let error { lines.append(error.description) }
        lines += failures.prefix(Self.shown).map { operation in
            "\(operation.kind) of \(operation.table)/\(operation.recordID): \(operation.failure?.message ?? "")"
        }
        if failures.count > Self.shown { lines.append("\((failures.count - Self.shown).grouped) more failed") }
        return lines.joined(separator: "\n  ")
    }

    /// The number of failures in the text.
    private static let shown = 3

    /// The counts in one sentence.
    package var counts: String {
        var parts = ["\(applied.counted("change")) sent"]
        if conflicts > 0 { parts.append(conflicts.counted("conflict")) }
        if remaining > 0 { parts.append("\(remaining.grouped) left in the queue") }
        if postponed > 0 { parts.append("\(postponed.grouped) of them postponed by a hook") }
        if ofOthers > 0 { parts.append("\(ofOthers.grouped) of them for another user to send") }
        return parts.joined(separator: ", ")
    }
}

extension PullResult: CustomStringConvertible {
    /// The counts on one line, then the reasons for additional work.
    public var description: String { (["pull: \(counts)"] + remarks).joined(separator: "\n  ") }

    /// The counts in one sentence; unchanged rows are not mentioned.
    package var counts: String {
        var parts: [String] = []
        if brought > 0 { parts.append("\(brought.counted("row")) stored") }
        if removed > 0 { parts.append("\(removed.counted("row")) removed") }
        if pending > 0 { parts.append("\(pending.grouped) left alone, with changes that wait") }
        if dropped > 0 { parts.append("\(dropped.grouped) dropped by a hook") }
        return parts.isEmpty ? "nothing new" : parts.joined(separator: ", ")
    }

    /// The reasons for additional work, and a way of following the server that costs much.
    package var remarks: [String] {
        let isUnexplained = grade == .full && !reasons.contains(where: \.explainsFull)
        let costs = "the server's changes cannot be followed, so all rows are read by each pull"
        return reasons.map(\.description) + (isUnexplained ? [costs] : [])
    }
}

extension ReconcileResult: CustomStringConvertible {
    /// The counts on one line.
    public var description: String { "reconcile: \(counts)" }

    /// The counts in one sentence.
    package var counts: String {
        var parts = ["\(compared.counted("row")) compared"]
        if stored > 0 { parts.append("\(stored.grouped) brought") }
        if removed > 0 { parts.append("\(removed.grouped) removed") }
        if pending > 0 { parts.append("\(pending.grouped) left alone, with changes that wait") }
        return parts.joined(separator: ", ")
    }
}
