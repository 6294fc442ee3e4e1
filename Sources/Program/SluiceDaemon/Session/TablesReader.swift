internal import Sluice
internal import SluiceConfiguration

/// The tables, named queries and migrations of one endpoint, or those at the top of the file if it has none of its own.
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
/// odata: …                        # of odata-v2 and odata-v4 alone, as is a table's odata: see ODataSettingsReader
/// ```
struct TablesReader {
    private let shapes: SettingsFile.Shapes

    init(_ file: SettingsFile, endpoint: String) {
        let (own, common) = (file.shapes[endpoint], file.shapes[""])
        shapes = SettingsFile.Shapes(
            tables: own?.tables ?? common?.tables, queries: own?.queries ?? common?.queries,
            migrations: own?.migrations ?? common?.migrations, odata: own?.odata ?? common?.odata)
    }

    /// Returns the settings of an OData service and its entity sets, which complete its metadata.
    func odata() throws -> ODataSettingsReader {
        var reader = ODataSettingsReader()
        if let node = shapes.odata { try reader.read(node) }
        for (name, node) in try shapes.tables?.entries() ?? [] {
            guard let node = try node.named("table \(name)").members(Self.members)["odata"] else { continue }
            try reader.read(node, of: name)
        }
        return reader
    }

    private static let members = ["columns", "indexes", "local", "odata"]

    func migrations() throws -> [StoreMigration] { try MigrationReader.migrations(shapes.migrations) }

    func tables() throws -> ([TableSchema], LocalOnly) {
        var (tables, localOnly): ([TableSchema], LocalOnly) = ([], LocalOnly())
        for (name, node) in try shapes.tables?.entries() ?? [] {
            let members = try node.named("table \(name)").members(Self.members)
            if let local = members["local"] { try localOnly.read(local, of: name) }
            tables.append(try TableSchema(name, members))
        }
        return (tables, localOnly)
    }

    /// Returns the pulls of the schedule: each named query, and each whole table without one, except local tables.
    func pulls(_ tables: [TableSchema], _ localOnly: LocalOnly) throws -> [SyncSchedule.Pull] {
        var pulls: [SyncSchedule.Pull] = []
        for (name, node) in try shapes.queries?.entries() ?? [] {
            let members = try node.named("query \(name)").members(["table", "filter"])
            guard let table = try members["table"]?.text() else {
                throw node.key.refusal("query \(name) needs a table")
            }
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
