package import SluiceBase

extension SyncTables {
    /// The schemas of all tables that the engine keeps in a store, except the values of plugins.
    package static let all = [
        TableOperation.schema, UnansweredSend.schema, RecordState.schema, Cursor.schema, Membership.schema,
        ChangeStamps.schema, QuarantinedRow.schema, LeaseRecord.schema, ScheduleState.schema,
        PageSize.schema, MigrationNote.schema, LocalOnly.schema, audit,
    ]
}
