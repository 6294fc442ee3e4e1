package import SluiceBase

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
            "pending": JSON(pending), "usedDigest": JSON(usedDigest),
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
