/// What an answer is held against: the record on which the change was made, and the record as the send left it.
extension PushItem {
    /// Whether the record still has the version that was the condition of the change: then nothing has happened to it.
    func isUnmoved(_ record: JSON, _ columns: PushColumns) -> Bool {
        guard let version = base?[columns.version], !version.isNull else { return false }
        return record[columns.version] == version
    }

    /// Whether the answer has every property that the server's record is known to have.
    func isWhole(_ answer: JSON, _ columns: PushColumns) -> Bool {
        (base?.members ?? []).allSatisfy { name, value in
            columns.system.contains(name) || value.isNull || answer[name] != nil
        }
    }

    /// The server's record by its answer to the change. What the answer leaves out is as the send left it: some servers
    /// answer with the properties that were sent alone.
    func completing(_ answer: JSON, _ columns: PushColumns) -> JSON {
        var record = answer
        let kept = columns.replaces ? base?.members?.filter { columns.system.contains($0.name) } : nil
        for (name, value) in (kept ?? []) + (made(by: operation.sentAsIs, as: \.request, columns)?.members ?? [])
        where record[name] == nil && !value.isNull && name != columns.deleted {
            record[name] = value
        }
        return record
    }

    /// The record as the send left it, where nobody has changed it since; nil if that is not known.
    ///
    /// - Parameter body: whether as it went out, or as the engine made it before any filter.
    func made(
        by sent: SentBody?, as body: KeyPath<SentBody, JSON> & Sendable = \.final, _ columns: PushColumns
    ) -> JSON? {
        guard operation.kind != .undelete else { return operation.frozen ?? base }
        guard let sent else { return nil }
        var made = columns.replaces ? .object : base ?? .object
        for (name, value) in sent[keyPath: body].members ?? [] { made[name] = value }
        return made
    }
}
