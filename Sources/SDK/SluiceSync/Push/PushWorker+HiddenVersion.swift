internal import SluiceBase
internal import SluiceWire

/// Versions that the server names in the `ETag` field of a record by its id, and not in its lists.
extension PushWorker {
    /// Whether the server may have a version of the record that the base lacks: its lists do not show it, or the record came
    /// by another wire. No send of the change had this version as its condition.
    func mayHideVersion(_ item: PushItem) -> Bool {
        guard let base = item.base, base[columns.version]?.string == nil,
            partialLists.hasVersions(item.operation.table) != false
        else { return false }
        return item.operation.sent.isEmpty || !item.operation.isUncertain || !item.foreign.isEmpty
    }

    /// Gives a change that was made on a record without a version the one that the server has in the `ETag` field of the
    /// record by its id. If the list shows another record than the base, another user has changed it, which is a conflict.
    ///
    /// - Returns: nil where the record by its id has no version either, or is not shown.
    func hiddenVersion(of item: PushItem, _ base: JSON) async throws -> Preparation? {
        let (table, id, requestedAt) = (item.operation.table, item.operation.recordID, options.environment.now())
        var found: JSON?
        do {
            found = try await lookup(table, id).record
        } catch let error as SluiceError where !error.isEndOfPush {
            // Not every server answers by id, but a failure may pass.
            if error.mayPass { throw error }
            if item.foreign.isEmpty { return nil }
        }
        // A record that came by another wire may have a version in the lists of this one.
        if found?[columns.version]?.string == nil, !item.foreign.isEmpty {
            found = try await readBack(item).record ?? found
        }
        guard let record = found?.without(options.localOnly.columns[table]) else {
            if let listed = try await listed(item), isYoung(listed) { throw lag(of: item, Self.isHidden) }
            return nil
        }
        let hasVersion = record[columns.version]?.string != nil
        if try await isReplaced(record[columns.version]?.string, of: item, requestedAt) { throw lag(of: item) }
        if !hasVersion, let other = record[columns.version], !other.isNull {
            // A version that is no text cannot be a condition.
            return other == base[columns.version] ? nil : .answer(item, .madeOnAnother(record))
        }
        partialLists.note(table, hasVersions: hasVersion)
        if !hasVersion { return nil }
        if item.foreign.isEmpty, AskedHooks(options.hooks, .afterPull, table: table) != nil {
            // Hooks may have stored other values than the server's: the time tells.
            let times = [record, base].compactMap { $0[client.dialect.columns.updatedAt] }
            let isMoved = times.count == 2 && times[0] != times[1] || columns.isDeleted(record)
            return isMoved ? .answer(item, .madeOnAnother(record)) : try await grounded(item, on: record)
        }
        // Another wire's properties are no change of the record.
        if columns.isSame(record.without(item.foreign), as: base) { return try await grounded(item, on: record) }
        guard !columns.isDeleted(record), let listed = try await listed(item), columns.isSame(listed, as: base) else {
            return .answer(item, .madeOnAnother(record))
        }
        // The list leaves out what it does not have.
        if columns.holds(record, base) { return try await grounded(item, on: record) }
        if item.operation.failure == nil { throw lag(of: item, "the server's list and the record by its id differ") }
        return .answer(item, .madeOnAnother(record))
    }
}
