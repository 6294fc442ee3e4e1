internal import Foundation
internal import Sluice

/// What `sync.yaml` says: where store and server are, and what the tables look like.
///
/// ```yaml
/// endpoint: http://127.0.0.1:8080
/// store: movies.db                # relative to this file
/// dialect: azure-v2
/// conflicts: hold                 # or server-wins, client-wins
/// durability: full                # or normal
/// token-file: token.txt
/// token-scheme: zumo              # or bearer
/// application-key-file: key.txt   # azure-v1 alone
/// tables:
///   movies:
///     columns: { title: string, year: integer }
///     indexes: [year, [rating, title]]
/// ```
struct SyncConfiguration {
    var endpoint: String?
    var store: String?
    var dialect: String?
    var conflicts: ConflictPolicy?
    var durability: String?
    var tokenFile: String?
    var tokenScheme: String?
    var applicationKeyFile: String?
    var tables: [TableSchema] = []

    /// A configuration that says nothing.
    init() {}

    /// Reads the file. Paths in it are relative to it.
    init(path: String) throws {
        let mapping = try YAMLFile(path: path).mapping()
        try mapping.refuseKeys(otherThan: [
            "endpoint", "store", "dialect", "conflicts", "durability", "token-file", "token-scheme",
            "application-key-file", "tables",
        ])
        let folder = (path as NSString).deletingLastPathComponent
        endpoint = try mapping.string("endpoint")
        store = try mapping.string("store").map { Self.resolve($0, in: folder) }
        dialect = try mapping.choice("dialect", of: Dialect.all.map(\.name))
        conflicts = try mapping.choice("conflicts", of: ConflictPolicy.allCases.map(\.rawValue))
            .flatMap(ConflictPolicy.init)
        durability = try mapping.choice("durability", of: ["full", "normal"])
        tokenFile = try mapping.string("token-file").map { Self.resolve($0, in: folder) }
        tokenScheme = try mapping.choice("token-scheme", of: ["zumo", "bearer"])
        applicationKeyFile = try mapping.string("application-key-file").map { Self.resolve($0, in: folder) }
        tables = try Self.tables(mapping)
    }

    private static func tables(_ mapping: YAMLMapping) throws -> [TableSchema] {
        guard let tables = try mapping.mapping("tables") else { return [] }
        return try tables.keys.map { name in
            let table = try tables.mapping(name)
            try table?.refuseKeys(otherThan: ["columns", "indexes"])
            let columns = try table?.mapping("columns")
            let types = TableSchema.ColumnType.allCases.map(\.rawValue)
            return TableSchema(
                name,
                columns: try (columns?.keys ?? []).compactMap { column in
                    try columns?.choice(column, of: types).flatMap(TableSchema.ColumnType.init)
                        .map { TableSchema.Column(column, $0) }
                },
                indexes: try table?.lists("indexes") ?? [])
        }
    }

    private static func resolve(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") || folder.isEmpty ? path : (folder as NSString).appendingPathComponent(path)
    }
}
