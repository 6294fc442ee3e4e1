public import SluiceBase

/// The changes of one group, while it is made: see ``SyncContext/group(options:_:)``.
public struct OperationGroup {
    /// The group's id, as its operations will have it.
    public let id: String
    let context: SyncContext
    let options: OperationOptions
    let store: any StoreWriter
    /// What hooks say of the changes; nil where there are none.
    let run: GroupRun?

    /// Adds a record; see ``SyncTable/insert(_:options:)``.
    @discardableResult
    public func insert(_ record: JSON, in table: String) throws -> JSON {
        let environment = context.options.environment
        let id =
            try run?.id(ofNew: record, table: table, environment)
            ?? RecordRules.id(ofNew: record, table: table, environment)
        return try change(.insert, id, in: table, record) ?? record
    }

    /// Changes properties of a record; see ``SyncTable/update(_:options:)``.
    @discardableResult
    public func update(_ changes: JSON, in table: String) throws -> JSON {
        try change(.update, try RecordRules.id(ofChanges: changes, table: table), in: table, changes) ?? changes
    }

    /// Deletes a record; see ``SyncTable/delete(id:options:)``.
    public func delete(_ id: some RecordIDConvertible, in table: String) throws {
        _ = try change(.delete, id.recordID, in: table)
    }

    /// Brings a deleted record back; see ``SyncTable/undelete(id:options:)``.
    public func undelete(_ id: some RecordIDConvertible, in table: String) throws {
        _ = try change(.undelete, id.recordID, in: table)
    }

    /// The record as it is, with what the group has changed so far; or nil.
    public func record(_ id: some RecordIDConvertible, in table: String) throws -> JSON? {
        try SyncTables.validate(table)
        return try store.record(id.recordID, in: table)
    }

    private func change(
        _ kind: TableOperation.Kind, _ recordID: RecordID, in table: String, _ content: JSON = .object
    ) throws -> JSON? {
        try SyncTables.validate(table)
        let change = LocalChange(
            kind, recordID, in: table, content: content, options: options, group: id, user: context.options.user,
            systemColumns: context.dialect.pushColumns.system, localOnly: context.localOnly)
        let stays = context.localOnly.tables.contains(table)
        let decided = try stays ? change : run?.decide(change, context.options.hooks, store) ?? change
        return try decided.apply(to: store, environment: context.options.environment)
    }
}
