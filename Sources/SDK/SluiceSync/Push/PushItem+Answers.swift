internal import SluiceBase
internal import SluiceWire

/// Compares an answer with the record on which the change was made, and with the record after the send.
extension PushItem {
    /// Whether the record still has the version of the change's condition, or on a server without versions its values,
    /// and so is unchanged.
    func isUnmoved(_ record: JSON, _ columns: PushColumns) -> Bool {
        guard let base else { return false }
        let (version, other) = (base[columns.version] ?? .null, record[columns.version] ?? .null)
        return version == other && (!version.isNull || columns.isSame(record, as: base))
    }

    /// Whether the record has a version known before the change was sent, and so is not its result.
    func isOld(_ record: JSON, _ columns: PushColumns) -> Bool {
        if isUnmoved(record, columns) { return true }
        guard let known, !known.isNull else { return false }
        return record[columns.version] == known
    }

    /// Whether a send may be repeated to learn its outcome. If it was not applied, the repeat is refused, because the
    /// record exists and differs from the change's base.
    func mayAsk(_ sent: SentBody, _ columns: PushColumns) -> Bool {
        let isConditional =
            operation.kind == .insert || operation.kind == .update && base?[columns.version]?.string != nil
        return isConditional && operation.group == nil && sent.isIdentified
    }

    /// Whether the record has none of the sent values: those of an insert, or the changed ones of an update.
    func isUntaken(_ record: JSON, _ columns: PushColumns) -> Bool {
        let isInsert = operation.kind == .insert
        guard isInsert || operation.kind == .update, let sent = operation.sentAsIs?.final.members else { return false }
        let changed = sent.filter { name, value in
            name != columns.id && !columns.system.contains(name) && (isInsert || (base?[name] ?? .null) != value)
        }
        return !changed.isEmpty
            && changed.allSatisfy { name, value in
                // A missing property is no evidence.
                guard let written = record[name] else { return false }
                return isInsert
                    ? !columns.holds(record, JSON(members: [(name, value)]), forms) : written == base?[name] ?? .null
            }
    }

    /// Whether the record has a sent value that it did not have before, even in a form not yet seen from this server; or
    /// has none of these properties, which is no evidence.
    func isTaken(in record: JSON, _ columns: PushColumns) -> Bool {
        if operation.kind != .update { return !isUntaken(record, columns) }
        let changed = (operation.sentAsIs?.final.members ?? []).filter { name, value in
            name != columns.id && !columns.system.contains(name) && (base?[name] ?? .null) != value
                && (record[name] != nil || value.isNull)
        }
        return changed.isEmpty
            || changed.contains { name, value in
                columns.holds(record, JSON(members: [(name, value)]), [name: Set(WrittenForm.allCases)])
            }
    }

    /// Returns the record on which the change was made with the server's newer values, if the server's record has its
    /// version and other content; else nil. A property that only the one or the other record has is no difference,
    /// because lists may leave some out.
    func rewritten(as mirror: JSON, _ columns: PushColumns, except localOnly: Set<PropertyName>?) -> JSON? {
        guard operation.kind == .update || operation.kind == .delete, let base, isUnmoved(mirror, columns) else {
            return nil
        }
        let values = base.without(localOnly).members ?? []
        let newer = values.filter { name, value in
            mirror[name] != nil
                && !columns.holds(mirror, JSON(members: [(name, value)]), [name: Set(WrittenForm.allCases)])
        }
        if newer.isEmpty { return nil }
        return newer.reduce(into: base) { record, member in record[member.name] = mirror[member.name] }
    }

    /// Whether this revision was sent before. Sends of an earlier revision may have been of another request.
    var isSent: Bool { operation.sent.contains { $0.revision == operation.revision } }

    /// Whether the server's record has values that the base of the change lacks, or others in their place.
    func lacks(_ record: JSON, _ columns: PushColumns) -> Bool {
        guard let base else { return false }
        return (record.members ?? []).contains { name, value in
            name != columns.id && !columns.system.contains(name) && !value.isNull
                && !columns.holds(base, JSON(members: [(name, value)]), [name: Set(WrittenForm.allCases)])
        }
    }

    /// Whether the change sets a property to another value than the server's newer one, or deletes the record. A property
    /// that the base has not is unknown there.
    func collides(with rewritten: JSON) -> Bool {
        guard let local, let base else { return true }
        return (local.members ?? []).contains { name, value in
            guard let former = base[name] else { return false }
            return value != former && rewritten[name] != former && value != rewritten[name]
        }
    }

    /// Whether a newer record than the one on which the change was made is known.
    func isMadeOnOlder(_ columns: PushColumns) -> Bool {
        guard let known, !known.isNull, let version = base?[columns.version], !version.isNull else { return false }
        return known != version
    }

    /// Whether the record has a new version with the values that it had before an update.
    func isMadeAgain(_ record: JSON, _ columns: PushColumns) -> Bool {
        guard operation.kind == .update, let base, base[columns.version]?.string != nil, !isOld(record, columns) else {
            return false
        }
        return RecordRules.withoutSystemColumns(record, columns.system)
            == RecordRules.withoutSystemColumns(base, columns.system)
    }

    /// Whether the record has every sent value of an update, even in a form not yet seen from this server.
    func isWritten(in record: JSON, _ columns: PushColumns) -> Bool {
        guard operation.kind == .update, let sent = operation.sentAsIs?.final, sent.kind == .object else {
            return false
        }
        let forms = sent.names.map { ($0, Set(WrittenForm.allCases)) }
        return columns.holds(record, sent, Dictionary(forms) { first, _ in first })
    }

    /// Whether the record has a newly sent value, even in a form not yet seen from this server.
    func mayHaveLeft(_ record: JSON, _ columns: PushColumns) -> Bool {
        operation.sentAsIs.map { mayHaveLeft(record, by: $0, columns) } ?? false
    }

    /// Whether the record has a new value of that send, even in a form not yet seen from this server. A delete has the
    /// sends of the edits that it replaced.
    func mayHaveLeft(_ record: JSON, by sent: SentBody, _ columns: PushColumns) -> Bool {
        if operation.kind == .undelete { return false }
        return sent.final.members?.contains { name, value in
            guard name != columns.id, !columns.system.contains(name), !value.isNull, (base?[name] ?? .null) != value,
                operation.kind == .update || !isOfID(name, value)
            else { return false }
            return columns.holds(record, JSON(members: [(name, value)]), [name: Set(WrittenForm.allCases)])
        } ?? false
    }

    /// Whether the property repeats part of the record's id, as a service's key properties do: an id of several is
    /// spelled `name=value,…`. Every record with that id has them, so they are no evidence.
    private func isOfID(_ name: PropertyName, _ value: JSON) -> Bool {
        let id = operation.recordID.text
        return id == (value.string ?? value.number?.description) || id.hasPrefix("\(name)=") || id.contains(",\(name)=")
    }

    /// Returns the server's record from its answer to the change. Missing properties are filled from the send, because
    /// some servers answer with the sent properties only. A property in another case does not count as missing.
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

    /// Returns the changed properties that a successful answer lacks, or has as null: typed backends accept a property
    /// that they do not know, and drop it. If it has none of an update's values, in any form, the server has decided
    /// otherwise. An answer of system properties alone shows nothing.
    func dropped(by status: Int, showing record: JSON?, _ columns: PushColumns) -> [PropertyName] {
        guard 200..<300 ~= status, operation.kind.hasBody, let record, !columns.isDeleted(record),
            let sent = operation.sentAsIs,
            record.names.contains(where: { $0 != columns.id && !columns.system.contains($0) })
        else { return [] }
        let isRefused = !isTaken(in: record, columns)
        let given = (record.members ?? []).lazy.filter { !$0.value.isNull }
        let answered = Set(given.map { StoreRules.folded($0.name.text) })
        // An update that the answer shows undone, or an insert that was answered with a record that was there.
        func isOther(_ name: PropertyName, _ value: JSON) -> Bool {
            if operation.kind == .update { return record[name] != nil && record[name] == base?[name] }
            return status == 200 && !columns.holds(record, JSON(members: [(name, value)]))
        }
        return (sent.request.members ?? []).filter { name, value in
            !value.isNull && name != columns.id && !columns.system.contains(name) && sent.final[name] == value
                && (isRefused || !answered.contains(StoreRules.folded(name.text)) || isOther(name, value))
                && (operation.kind == .insert || base?[name] != value)
        }.map(\.name)
    }

    /// Whether the record lacks a value of the base: it is a part of the server's record, or the value was removed since.
    /// If updates replace the record, missing properties are gone. After a restore from a backup the server's record is
    /// older than the base, or as old. A recreated record has nothing of the old one.
    func isPart(_ record: JSON, _ columns: PushColumns) -> Bool {
        if columns.replaces || columns.isNoLater(record, than: base) || columns.isRemade(record, since: base) {
            return false
        }
        let shown = Set(record.names.map { StoreRules.folded($0.text) })
        return (base?.members ?? []).contains { name, value in
            !value.isNull && name != columns.deleted && !columns.system.contains(name)
                && !shown.contains(StoreRules.folded(name.text))
        }
    }

    /// Completes the records of a verdict. A part of the server's record, where it cannot be read, is filled from the
    /// base.
    func completing(_ verdict: PushVerdict, _ columns: PushColumns) -> PushVerdict {
        switch verdict {
        case .found(let record, let sent): return .found(completing(record, by: sent, columns), sent)
        case .earlierRevisionDone(let record, let sent):
            return .earlierRevisionDone(completing(record, by: sent, columns), sent)
        case .conflict(server: var server?, isDeleted: false) where isPart(server, columns):
            let answered = Set(server.names.map { StoreRules.folded($0.text) })
            for (name, value) in base?.members ?? []
            where !answered.contains(StoreRules.folded(name.text)) && !value.isNull && name != columns.deleted {
                server[name] = value
            }
            return .conflict(server: server, isDeleted: false)
        default: return verdict
        }
    }

    /// Returns the record as of the send, if unchanged since; nil if unknown.
    ///
    /// - Parameter body: the sent content; nil means the final body.
    func made(by sent: SentBody?, saying body: JSON? = nil, _ columns: PushColumns) -> JSON? {
        guard operation.kind != .undelete else { return operation.frozen ?? base }
        guard let sent else { return nil }
        var made = columns.replaces ? .object : base ?? .object
        for (name, value) in (body ?? sent.final).members ?? [] { made[name] = value }
        return made
    }
}

extension PushItem {
    /// Whether the record has all that the update changes.
    func isMade(in record: JSON, _ columns: PushColumns) -> Bool {
        guard operation.kind == .update, let base, let local else { return false }
        let changes = Rebase.changes(from: base, to: local, system: columns.system.union([columns.id]))
        return changes != .object && columns.holds(record, changes, forms)
    }

    /// Returns the conflict of an update that the server refuses, and whose values it has by another's change; nil for other
    /// answers, and after a send that may have been the change: a server that remembers requests would have answered it.
    ///
    /// A proxy may send a PUT again by itself (RFC 9110, section 9.2.2), and a server that does not remember requests then
    /// refuses the second one.
    func equalEdit(_ record: JSON, _ answer: PushAnswer, _ columns: PushColumns) -> Conflict? {
        let isRemembered =
            answer.remembersRequests
            && operation.sent.allSatisfy { $0.isIdentified && $0.revision == operation.revision }
        guard answer.status == 409 || answer.status == 412, operation.kind == .update,
            isRemembered || !operation.isUncertain
        else { return nil }
        return Conflict(
            operation: operation, client: local, server: record, base: base,
            maybeApplied: columns.replaces && !answer.remembersRequests && !operation.sent.isEmpty,
            status: answer.status,
            isDeletedOnServer: false, isEqualEdit: true)
    }
}
