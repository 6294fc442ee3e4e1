internal import SluiceBase
internal import SluiceWire

/// What an answer is held against: the record on which the change was made, and the record as the send left it.
extension PushItem {
    /// Whether the record still has the version that was the condition of the change: then nothing has happened to it.
    func isUnmoved(_ record: JSON, _ columns: PushColumns) -> Bool {
        guard let version = base?[columns.version], !version.isNull else { return false }
        return record[columns.version] == version
    }

    /// Whether the record has a version that was known before the change was sent: that send did not make it.
    func isOld(_ record: JSON, _ columns: PushColumns) -> Bool {
        if isUnmoved(record, columns) { return true }
        guard let known, !known.isNull else { return false }
        return record[columns.version] == known
    }

    /// Whether that send may be repeated to learn what became of it: had it not been done, it would be refused, for the
    /// record is there, and not as the change found it.
    func mayAsk(_ sent: SentBody, _ columns: PushColumns) -> Bool {
        let isConditional =
            operation.kind == .insert || operation.kind == .update && base?[columns.version]?.string != nil
        return isConditional && operation.group == nil && sent.isIdentified
    }

    /// Whether the record has none of the values that were sent: an insert's, or those that an update changes.
    func isUntaken(_ record: JSON, _ columns: PushColumns) -> Bool {
        let isInsert = operation.kind == .insert
        guard isInsert || operation.kind == .update, let sent = operation.sentAsIs?.final.members else { return false }
        let changed = sent.filter { name, value in
            name != columns.id && !columns.system.contains(name) && (isInsert || (base?[name] ?? .null) != value)
        }
        return !changed.isEmpty
            && changed.allSatisfy { name, value in
                // What is left out is no evidence.
                guard let written = record[name] else { return false }
                return isInsert
                    ? !columns.holds(record, JSON(members: [(name, value)]), forms) : written == base?[name] ?? .null
            }
    }

    /// Whether the record has some value that was sent and was not there before, though perhaps in a form in which this
    /// server was not seen to write.
    func mayHaveLeft(_ record: JSON, _ columns: PushColumns) -> Bool {
        guard operation.kind == .insert || operation.kind == .update else { return false }
        return operation.sentAsIs?.final.members?.contains { name, value in
            guard name != columns.id, !columns.system.contains(name), !value.isNull, (base?[name] ?? .null) != value,
                !(operation.kind == .insert && isOfID(name, value))
            else { return false }
            return columns.holds(record, JSON(members: [(name, value)]), [name: Set(WrittenForm.allCases)])
        } ?? false
    }

    /// Whether the property says no more than the id of the record does, as those of a service's key do: an id of several
    /// is spelled `name=value,…`. Whoever made a record of that id has them too.
    private func isOfID(_ name: PropertyName, _ value: JSON) -> Bool {
        let id = operation.recordID.text
        return id == (value.string ?? value.number?.description) || id.hasPrefix("\(name)=") || id.contains(",\(name)=")
    }

    /// The server's record by its answer to the change. What the answer leaves out is as that send left it: some
    /// servers answer with the properties that were sent alone. A property that comes in other letters' case was not
    /// left out.
    func completing(_ answer: JSON, by sent: SentBody?, _ columns: PushColumns) -> JSON {
        var record = answer
        let kept = columns.replaces ? base?.members?.filter { columns.system.contains($0.name) } : nil
        let answered = Set(answer.names.map { StoreRules.folded($0.text) })
        for (name, value) in (kept ?? []) + (made(by: sent, saying: sent?.request, columns)?.members ?? [])
        where !answered.contains(StoreRules.folded(name.text)) && !value.isNull && name != columns.deleted {
            record[name] = value
        }
        return record
    }

    /// The same of what a refusal shows: laid over the record that is known, as it may be a part of the server's.
    func completing(_ verdict: PushVerdict, _ columns: PushColumns) -> PushVerdict {
        switch verdict {
        case .found(let record, let sent): return .found(completing(record, by: sent, columns), sent)
        case .earlierRevisionDone(let record, let sent):
            return .earlierRevisionDone(completing(record, by: sent, columns), sent)
        // Where an update replaces the record, what it leaves out is gone; a server that was restored from a backup
        // shows a record from before the one that is known; and a record that was made anew has nothing of the old one.
        case .conflict(server: var server?, isDeleted: false)
        where !columns.replaces && !columns.isEarlier(server, than: base) && !columns.isRemade(server, since: base):
            let answered = Set(server.names.map { StoreRules.folded($0.text) })
            for (name, value) in base?.members ?? []
            where !answered.contains(StoreRules.folded(name.text)) && !value.isNull && name != columns.deleted {
                server[name] = value
            }
            return .conflict(server: server, isDeleted: false)
        default: return verdict
        }
    }

    /// The record as the send left it, where it was not changed since; nil if that is not known.
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
