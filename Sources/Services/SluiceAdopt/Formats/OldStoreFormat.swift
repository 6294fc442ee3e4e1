internal import SluiceBase

/// The local store of a client SDK whose development has ended.
public enum OldStoreFormat: String, Sendable, Hashable, CaseIterable, Encodable {
    /// `MobileServiceSQLiteStore` of the .NET clients 1.3 to 4.2.
    case net
    /// `OfflineSQLiteStore` of `Microsoft.Datasync.Client` 5 and 6.
    case datasync
    /// The `OfflineDbContext` of `CommunityToolkit.Datasync.Client` 8 to 10, on SQLite.
    case toolkit
    /// `MobileServiceSqliteStore` of the JavaScript client, on Cordova.
    case javascript
    /// `SQLiteLocalStore` of the Android client 3.
    case android
    /// `MSCoreDataStore` of the iOS client 3, as Core Data keeps it in SQLite.
    case ios
}

/// The tables of a format that are the SDK's own, by which a file is recognised.
struct Fingerprint {
    /// One of the SDK's own tables.
    struct Table {
        var columns: Set<String>
        /// Columns that some versions have.
        var others: Set<String> = []
        /// Whether versions exist without the table.
        var isOptional = false
    }

    let format: OldStoreFormat
    let tables: [String: Table]
    /// Further tables that stand beside them and hold nothing of the application.
    var ignored: Set<String> = []

    static let all = [net, datasync, toolkit, javascript, android, ios]

    static let net = Fingerprint(
        format: .net,
        tables: [
            "__operations": Table(
                columns: ["id", "kind", "state", "tableName", "tableKind", "itemId", "item", "sequence", "version"],
                others: ["createdAt", "__createdAt"]),
            "__errors": Table(
                columns: [
                    "id", "httpStatus", "operationVersion", "operationKind", "tableName", "tableKind", "item",
                    "rawResult",
                ], others: ["createdAt", "__createdAt"]),
            "__config": Table(columns: ["id", "value"]),
        ])

    static let datasync = Fingerprint(
        format: .datasync,
        tables: [
            "__operations": Table(
                columns: ["id", "kind", "state", "tableName", "itemId", "item", "sequence", "version"]),
            "__errors": Table(columns: ["id", "status", "version", "kind", "tableName", "item", "rawResult"]),
            "__config": Table(columns: ["id", "value"]),
        ])

    static let toolkit = Fingerprint(
        format: .toolkit,
        tables: [
            "DatasyncOperationsQueue": Table(columns: [
                "Id", "Kind", "State", "LastAttempt", "HttpStatusCode", "EntityType", "ItemId", "EntityVersion", "Item",
                "Sequence", "Version",
            ]), "DatasyncDeltaTokens": Table(columns: ["Id", "Value"]),
        ], ignored: ["__EFMigrationsHistory", "__EFMigrationsLock"])

    static let javascript = Fingerprint(
        format: .javascript,
        tables: [
            "__operations": Table(columns: ["id", "tableName", "action", "itemId"], others: ["metadata"]),
            "__pulltime": Table(columns: ["id", "tableName", "value"]),
        ], ignored: ["android_metadata"])

    static let android = Fingerprint(
        format: .android,
        tables: [
            "__operations": Table(columns: [
                "id", "kind", "tablename", "itemid", "createdat", "__queueloadedat", "sequence", "state", "item",
            ]),
            "__errors": Table(
                columns: [
                    "id", "operationid", "operationkind", "tablename", "itemid", "clientitem", "errormessage",
                    "statuscode",
                    "serverresponse", "serveritem", "createdat",
                ], isOptional: true),
            "__incrementalpulldata": Table(columns: ["id", "maxupdateddate"], isOptional: true),
        ], ignored: ["android_metadata"])

    static let ios = Fingerprint(
        format: .ios,
        tables: [
            "ZMS_TABLEOPERATIONS": Table(columns: [
                "Z_PK", "Z_ENT", "Z_OPT", "ZID", "ZTABLEKIND", "ZITEMID", "ZTABLE", "ZPROPERTIES",
            ]),
            "ZMS_TABLEOPERATIONERRORS": Table(columns: [
                "Z_PK", "Z_ENT", "Z_OPT", "ZOPERATIONID", "ZTABLEKIND", "ZID", "ZPROPERTIES",
            ]),
            "ZMS_TABLECONFIG": Table(
                columns: ["Z_PK", "Z_ENT", "Z_OPT", "ZKEYTYPE", "ZID", "ZKEY", "ZTABLE", "ZVALUE"], isOptional: true),
            "Z_PRIMARYKEY": Table(columns: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"]),
        ], ignored: ["Z_METADATA", "Z_MODELCACHE"])
}
