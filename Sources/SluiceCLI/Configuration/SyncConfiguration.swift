internal import Foundation
internal import Sluice
internal import SluiceConfiguration

/// What `sync.yaml` says: where store and server are, and what the tables look like.
///
/// ```yaml
/// endpoint: http://127.0.0.1:8080
/// store: movies.db                # relative to this file
/// dialect: azure-v2
/// conflicts: hold                 # or server-wins, client-wins
/// batch: 50                       # changes in one request, where the server takes batches
/// concurrency: 4                  # requests under way at once
/// durability: full                # or normal
/// token-file: token.txt
/// token-scheme: zumo              # or bearer
/// user: ann                       # whose data it is; else what the token says
/// application-key-file: key.txt   # azure-v1 alone
/// key-file: store.key             # of an encrypted store; or passphrase-file
/// plugins: plugins.yaml           # the policy of the deployment's plugins
/// secrets: secrets                # a folder with the secrets of plugins: a file for each
/// tables:
///   movies:
///     columns: { title: string, year: integer }
///     indexes: [year, [rating, title]]
///     local: [note]               # columns that stay here; or true, for the whole table
///     odata: { updated-at: ChangedAt }  # what the metadata does not say: see ODataConfiguration
/// odata: { update: merge }        # of odata-v2 and odata-v4 alone
/// migrations: …                   # see MigrationConfiguration
/// ```
struct SyncConfiguration {
    /// The name under which `sync` pulls and `reconcile` compares.
    static let queryName = "sync"

    var endpoint: String?
    var store: String?
    var dialect: String?
    var conflicts: ConflictPolicy?
    var batch: Int?
    var concurrency: Int?
    var durability: String?
    var tokenFile: String?
    var tokenScheme: String?
    var user: String?
    var applicationKeyFile: String?
    var keyFile: String?
    var passphraseFile: String?
    var plugins: String?
    var secrets: String?
    var tables: [TableSchema] = []
    var localOnly = LocalOnly()
    var odata = ODataSettings()
    var migrations: [StoreMigration] = []

    /// A configuration that says nothing.
    init() {}

    /// Reads the file. Paths in it are relative to it.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` with the file, line and column.
    init(path: String) throws {
        let members = try ConfigurationFile(path: path).root().members([
            "endpoint", "store", "dialect", "conflicts", "batch", "concurrency", "durability", "token-file",
            "token-scheme", "user",
            "application-key-file", "key-file", "passphrase-file", "plugins", "secrets", "tables",
            "migrations", "odata",
        ])
        let folder = (path as NSString).deletingLastPathComponent
        func file(_ key: String) throws -> String? {
            try members[key].map { Self.resolve(try $0.text(), in: folder) }
        }
        endpoint = try members["endpoint"]?.text()
        store = try file("store")
        dialect = try members["dialect"]?.choice(of: Dialect.known.map(\.name))
        let policy = try members["conflicts"]?.choice(of: ConflictPolicy.allCases.map(\.rawValue))
        conflicts = policy.flatMap(ConflictPolicy.init)
        (batch, concurrency) = (try members["batch"]?.integer(), try members["concurrency"]?.integer())
        durability = try members["durability"]?.choice(of: ["full", "normal"])
        tokenFile = try file("token-file")
        tokenScheme = try members["token-scheme"]?.choice(of: ["zumo", "bearer"])
        user = try members["user"]?.text()
        applicationKeyFile = try file("application-key-file")
        (keyFile, passphraseFile) = (try file("key-file"), try file("passphrase-file"))
        (plugins, secrets) = (try file("plugins"), try file("secrets"))
        odata = try ODataConfiguration.settings(members["odata"])
        for (name, _, node) in try members["tables"]?.entries() ?? [] { tables.append(try table(name, node)) }
        migrations = try MigrationConfiguration.migrations(members["migrations"])
    }

    private mutating func table(_ name: String, _ node: ConfigurationNode) throws -> TableSchema {
        let members = try node.named("table \(name)").members(["columns", "indexes", "local", "odata"])
        if let node = members["odata"] { odata.tables[name] = try ODataConfiguration.table(node) }
        if let local = members["local"] {
            if let isWhole = try? local.flag() {
                if isWhole { localOnly.tables.insert(name) }
            } else {
                localOnly.columns[name] = Set(try local.items().map { PropertyName(try $0.text()) })
            }
        }
        let types = TableSchema.ColumnType.allCases.map(\.rawValue)
        let columns = try members["columns"]?.entries().compactMap { column, _, node in
            TableSchema.ColumnType(rawValue: try node.choice(of: types)).map {
                TableSchema.Column(PropertyName(column), $0)
            }
        }
        return TableSchema(
            name, columns: columns ?? [],
            indexes: try (members["indexes"]?.lists() ?? []).map { $0.map(PropertyName.init) })
    }

    private static func resolve(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") || folder.isEmpty ? path : (folder as NSString).appendingPathComponent(path)
    }
}
