internal import Sluice
internal import SluiceConfiguration

/// The tables, named queries and migrations of one endpoint; those at the top of the file count where it has none of its
/// own.
///
/// ```yaml
/// tables:
///   movies:
///     columns: { title: string, year: integer }
///     indexes: [year, [rating, title]]
///     local: [note]               # columns that stay here; or true, for the whole table
/// queries:
///   recent: { table: movies, filter: "year ge 2010" }
/// migrations: …                   # see MigrationReader
/// odata: …                        # of odata-v2 and odata-v4 alone, as is a table's odata: see ODataConfiguration
/// ```
struct TablesReader {
    private let shapes: SettingsFile.Shapes

    init(_ file: SettingsFile, endpoint: String) {
        let (own, common) = (file.shapes[endpoint], file.shapes[""])
        shapes = SettingsFile.Shapes(
            tables: own?.tables ?? common?.tables, queries: own?.queries ?? common?.queries,
            migrations: own?.migrations ?? common?.migrations, odata: own?.odata ?? common?.odata)
    }

    /// What is said of an OData service and its sets, for what its metadata does not say.
    func odata() throws -> ODataSettings {
        var settings = try ODataConfiguration.settings(shapes.odata)
        for (name, _, node) in try shapes.tables?.entries() ?? [] {
            guard let node = try node.named("table \(name)").members(Self.members)["odata"] else { continue }
            settings.tables[name] = try ODataConfiguration.table(node)
        }
        return settings
    }

    private static let members = ["columns", "indexes", "local", "odata"]

    func migrations() throws -> [StoreMigration] { try MigrationReader.migrations(shapes.migrations) }

    func tables() throws -> ([TableSchema], LocalOnly) {
        var (tables, localOnly): ([TableSchema], LocalOnly) = ([], LocalOnly())
        for (name, _, node) in try shapes.tables?.entries() ?? [] {
            tables.append(try Self.table(name, node, &localOnly))
        }
        return (tables, localOnly)
    }

    private static func table(
        _ name: String, _ node: ConfigurationNode, _ localOnly: inout LocalOnly
    ) throws -> TableSchema {
        let members = try node.named("table \(name)").members(Self.members)
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

    /// What is pulled: each named query, and whole tables that no query reads and that do not stay here.
    func pulls(_ tables: [TableSchema], _ localOnly: LocalOnly) throws -> [SyncSchedule.Pull] {
        var pulls: [SyncSchedule.Pull] = []
        for (name, place, node) in try shapes.queries?.entries() ?? [] {
            let members = try node.named("query \(name)").members(["table", "filter"])
            guard let table = try members["table"]?.text() else { throw place.refusal("query \(name) needs a table") }
            var query = Query(table)
            if let filter = members["filter"] {
                let text = try filter.text()
                do {
                    query.filter = try QueryExpression(odata: text)
                } catch {
                    throw filter.refusal("filter of query \(name): \(error)")
                }
            }
            pulls.append(SyncSchedule.Pull(query, named: name))
        }
        let read = Set(pulls.map(\.query.table))
        for table in tables where !read.contains(table.name) && !localOnly.tables.contains(table.name) {
            pulls.append(SyncSchedule.Pull(Query(table.name), named: ClientSettings.queryName))
        }
        return pulls
    }
}
