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
        let sent = operation.sentAsIs
        let kept = columns.replaces ? base?.members?.filter { columns.system.contains($0.name) } : nil
        for (name, value) in (kept ?? []) + (made(by: sent, saying: sent?.request, columns)?.members ?? [])
        where record[name] == nil && !value.isNull && name != columns.deleted {
            record[name] = value
        }
        return record
    }

    /// The record as the send left it, where nobody has changed it since; nil if that is not known.
    ///
    /// - Parameter body: what was sent; nil means the body as it went out.
    func made(by sent: SentBody?, saying body: JSON? = nil, _ columns: PushColumns) -> JSON? {
        guard operation.kind != .undelete else { return operation.frozen ?? base }
        guard let sent else { return nil }
        var made = columns.replaces ? .object : base ?? .object
        for (name, value) in (body ?? sent.final).members ?? [] { made[name] = value }
        return made
    }
}
