internal import SluiceBase

extension LocalChange {
    /// Carries out a change of a local-only table: it writes the row and queues nothing.
    func keep(in store: any StoreWriter) throws -> JSON? {
        try IDRules.validate(id: recordID, table: table, isNew: kind == .insert)
        let local = try store.record(recordID, in: table)
        if kind == .update, local == nil { throw missing }
        if kind == .undelete { throw refusal("the table stays here, and keeps no deleted records") }
        try checkSettled(local)
        let record = changed(local, nil)
        if let record { try RecordRules.validate(depthOf: record, id: recordID, table: table) }
        try QueueWriter(store).setLocal(record, recordID, in: table)
        return record
    }

    /// Carries out a change of a record with local-only columns: the others are queued, if the change has any.
    func enqueue(
        keeping names: Set<PropertyName>, in store: any StoreWriter, _ environment: SyncEnvironment,
        _ scope: ChangeScope
    ) throws -> JSON? {
        var (change, kept) = (self, JSON.object)
        for name in names {
            kept[name] = (replacement ?? content)[name]
            change.content[name] = nil
            change.replacement?[name] = nil
        }
        let isSilent = kind == .update && replacement == nil && kept.count > 0 && change.content.count == 1
        if isSilent {
            try IDRules.validate(id: recordID, table: table, isNew: kind == .insert)
            if try store.record(recordID, in: table) == nil { throw missing }
        } else {
            _ = try change.enqueue(
                in: SharedWriter(writer: store, columns: [table: names]), environment: environment, scope: scope)
        }
        guard var record = try store.record(recordID, in: table), kept.count > 0 else {
            return try store.record(recordID, in: table)
        }
        for (name, value) in kept.members ?? [] { record[name] = value }
        try RecordRules.validate(depthOf: record, id: recordID, table: table)
        try store.put(record, in: table)
        return record
    }
}
