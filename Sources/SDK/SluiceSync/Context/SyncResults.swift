package import SluiceBase

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
        if quarantined > 0 { parts.append("\(quarantined.grouped) set aside") }
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

// Results as JSON, in one form for the command line and the C interface.

extension PushResult {
    /// The counts and the failures, without the error that ended the push.
    package var json: JSON {
        [
            "end": JSON(end.description), "applied": JSON(applied), "conflicts": JSON(conflicts),
            "remaining": JSON(remaining), "waiting": JSON(waiting), "postponed": JSON(postponed),
            "ofOthers": JSON(ofOthers), "failures": JSON(failures.map(\.json)),
        ]
    }
}

extension PullResult {
    /// Returns the counts, with the push before the pull and the reconcile after it if there were any.
    package func json(table: String) -> JSON {
        var json: JSON = [
            "table": JSON(table), "stored": JSON(stored), "unchanged": JSON(unchanged), "deleted": JSON(deleted),
            "pending": JSON(pending), "conflicts": JSON(conflicts), "quarantined": JSON(quarantined),
            "dropped": JSON(dropped), "pages": JSON(pages),
        ]
        if let grade { json["grade"] = JSON(grade.rawValue) }
        json["reasons"] = JSON(reasons.map { JSON($0.rawValue) })
        if let reconcile { json["reconcile"] = reconcile.json(table: table) }
        if let push { json["push"] = push.json }
        return json
    }
}

extension ReconcileResult {
    /// Returns the counts and whether a digest was used.
    package func json(table: String) -> JSON {
        [
            "table": JSON(table), "compared": JSON(compared), "stored": JSON(stored), "removed": JSON(removed),
            "pending": JSON(pending), "quarantined": JSON(quarantined), "usedDigest": JSON(usedDigest),
        ]
    }
}

extension TableOperation {
    /// The operation without bodies.
    package var json: JSON {
        var reason: JSON = .null
        if let failure {
            reason = [
                "code": JSON(failure.code), "message": JSON(failure.message),
                "status": failure.status.map { JSON($0) } ?? .null,
            ]
        }
        return [
            "id": JSON(id), "table": JSON(table), "record": JSON(recordID), "kind": JSON(kind.rawValue),
            "state": JSON(state.rawValue), "revision": JSON(revision), "attempts": JSON(attempts),
            "uncertain": JSON(isUncertain), "tags": JSON(tags.sorted().map { JSON($0) }),
            "group": group.map { JSON($0) } ?? .null, "createdAt": JSON(createdAt.description),
            "notBefore": notBefore.map { JSON($0.description) } ?? .null, "failure": reason,
            "user": user.isEmpty ? .null : JSON(user), "headers": headers.document,
        ]
    }
}
