package import SluiceBase

extension SyncStatus {
    /// The phase, the counts and the cursors.
    package var json: JSON {
        phase.json.setting([
            "pending": JSON(pending), "inFlight": JSON(inFlight), "parked": JSON(parked), "dead": JSON(dead),
            "ofOthers": JSON(ofOthers), "cursors": JSON(cursors.map(\.json)),
        ])
    }
}

extension SyncStatus.CursorStatus {
    /// The cursor.
    package var json: JSON {
        [
            "table": JSON(table), "query": JSON(name), "updatedAt": JSON(updatedAt), "grade": JSON(grade.rawValue),
        ]
    }
}

extension SyncPhase {
    /// The phase's name, with the time that it waits for or how many operations are held.
    package var json: JSON {
        switch self {
        case .idle: ["phase": "idle"]
        case .offline: ["phase": "offline"]
        case .pulling: ["phase": "pulling"]
        case .pushing: ["phase": "pushing"]
        case .waiting(let until): ["phase": "waiting", "until": JSON(until.description)]
        case .needsAttention(let count): ["phase": "needsAttention", "count": JSON(count)]
        }
    }
}

extension SyncProgress {
    /// The step and how far it has come.
    package var json: JSON {
        [
            "step": JSON(step.rawValue), "table": table.map { JSON($0) } ?? .null, "rows": JSON(rows),
            "bytes": JSON(bytes), "total": total.map { JSON($0) } ?? .null,
        ]
    }
}

extension ChangeBatch {
    /// The changes, and the tables to read again whole: null for all of them.
    package var json: JSON {
        var reload: JSON = .null
        if case .tables(let tables) = reloads { reload = JSON(tables.sorted().map { JSON($0) }) }
        // The number counts commits of one context: it stays far below what JSON's integers hold.
        return [
            "id": JSON(Int64(clamping: id)), "changes": JSON(changes.map(\.json)), "reload": reload,
        ]
    }
}

extension StoreChange {
    /// The change, without the record's content.
    package var json: JSON {
        [
            "table": JSON(table), "record": JSON(recordID), "kind": JSON(kind.rawValue),
            "source": JSON(source.rawValue),
        ]
    }
}
