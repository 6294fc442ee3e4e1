package import SluiceBase

extension Conflict {
    /// The conflict with its three records.
    package var json: JSON {
        [
            "table": JSON(table), "id": JSON(recordID), "kind": JSON(operation.kind.rawValue),
            "operation": JSON(operation.id), "client": client ?? .null, "server": server ?? .null,
            "base": base ?? .null, "maybeApplied": JSON(maybeApplied), "status": JSON(status),
            "deletedOnServer": JSON(isDeletedOnServer),
        ]
    }
}
