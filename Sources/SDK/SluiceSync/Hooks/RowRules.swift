internal import SluiceBase
internal import SluiceWire

/// The limits on a hook's changes to a server row.
struct RowRules {
    private let chain: AskedHooks
    /// The id and the system columns, which hooks may not change.
    private let serverColumns: [PropertyName]
    private let serverNames: [[UInt8]]

    init(_ chain: AskedHooks, _ dialect: Dialect) {
        self.chain = chain
        serverColumns = [dialect.columns.id] + dialect.pushColumns.system.sorted()
        serverNames = serverColumns.map { Array($0.text.utf8) }
    }

    /// Checks a changed record and returns it with the server's values of the system columns.
    func checked(_ record: JSON, _ row: PulledRow, _ hook: any SyncHook) throws(SluiceError) -> JSON {
        guard record.kind == .object else {
            throw chain.broken(hook, "a changed row is a whole record", recordID: row.id)
        }
        guard StoreRules.isShallow(record) else { throw tooDeep(row, hook) }
        var record = record
        for name in serverColumns {
            let value = row[name]
            guard let given = record[name] else {
                if let value { record[name] = value }
                continue
            }
            try check(given, name, value, row, hook)
            if value == nil { record[name] = nil }
        }
        return record
    }

    /// Checks changed members and returns them without the system columns; nil if none is left.
    func checked(members: JSON, _ row: PulledRow, _ hook: any SyncHook) throws(SluiceError) -> JSON? {
        guard members.kind == .object else {
            throw chain.broken(hook, "changed members are those of an object", recordID: row.id)
        }
        var isPlain = true
        var isGiven = false
        members.visitMembers { name, isContainer in
            isPlain = isPlain && !isContainer
            isGiven = isGiven || serverNames.contains { $0.count == name.count && $0.elementsEqual(name) }
        }
        guard isPlain || StoreRules.isShallow(members) else { throw tooDeep(row, hook) }
        if !isGiven { return members.count == 0 ? nil : members }
        var members = members
        for name in serverColumns {
            guard let given = members[name] else { continue }
            try check(given, name, row[name], row, hook)
            members[name] = nil
        }
        return members.count == 0 ? nil : members
    }

    private func check(
        _ given: JSON, _ name: PropertyName, _ value: JSON?, _ row: PulledRow, _ hook: any SyncHook
    ) throws(SluiceError) {
        guard given == value ?? .null else {
            throw chain.broken(hook, "\(name) is the server's and cannot be changed", recordID: row.id)
        }
    }

    private func tooDeep(_ row: PulledRow, _ hook: any SyncHook) -> SluiceError {
        chain.broken(hook, "the record nests deeper than \(JSON.maximumDepth) levels", recordID: row.id)
    }
}
