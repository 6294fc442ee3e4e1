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
///     references: { studioId: studios }      # by the other's id: it is sent first
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

    /// Whether there is a setting of OData, of the endpoint or of a table.
    func hasOData() throws -> Bool {
        try shapes.odata != nil
            || shapes.tables?.entries().contains { _, node in try node.members(Self.members)["odata"] != nil } ?? false
    }

    private static let members = ["columns", "indexes", "local", "odata", "references"]

    func migrations() throws -> [StoreMigration] { try MigrationReader.migrations(shapes.migrations) }

    func tables() throws -> ([TableSchema], LocalOnly) {
        var (tables, localOnly): ([TableSchema], LocalOnly) = ([], LocalOnly())
        for (name, node) in try shapes.tables?.entries() ?? [] {
            let members = try node.named("table \(name)").members(Self.members)
            if let local = members["local"] { try localOnly.read(local, of: name) }
            var table = try TableSchema(name, members)
            for (column, node) in try members["references"]?.entries() ?? [] {
                let parent = try node.text()
                do { try SyncTables.validate(parent) } catch { throw node.refusal("table \(name): \(error.message)") }
                table.references.append(.init(PropertyName(column), to: parent, by: PropertyName(column)))
            }
            tables.append(table)
        }
        return (tables, localOnly)
    }

    /// Returns the pulls of the schedule: each named query, and each whole table without one, except local tables.
    func pulls(_ tables: [TableSchema], _ localOnly: LocalOnly) throws -> [SyncSchedule.Pull] {
        var pulls: [SyncSchedule.Pull] = []
        for (name, node) in try shapes.queries?.entries() ?? [] {
            let members = try node.named("query \(name)").members(["table", "filter"])
            guard let node = members["table"] else { throw node.key.refusal("query \(name) needs a table") }
            let table = try node.text()
            do { try SyncTables.validate(table) } catch { throw node.refusal("query \(name): \(error.message)") }
            if localOnly.tables.contains(table) {
                throw node.refusal("query \(name): the table \(table) stays on this machine")
            }
            var query = TableQuery(table)
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
            pulls.append(SyncSchedule.Pull(TableQuery(table.name), named: ClientSettings.queryName))
        }
        return pulls
    }
}

/// The migrations of a configuration file: by name, each a list of steps.
///
/// ```yaml
/// migrations:
///   2027-01 titles:
///     - { table: todos, rename: text, to: title }
///     - { table: todos, drop: color }
///     - { table: todos, retype: year, to: integer }
///     - { table: todos, rename-table: tasks }
///     - { table: drafts, drop-table: refuse }      # while changes wait; or discard
/// ```
enum MigrationReader {
    private static let verbs = ["rename", "drop", "retype", "rename-table", "drop-table"]

    static func migrations(_ node: ConfigurationNode?) throws -> [StoreMigration] {
        try node?.entries().map { name, node in
            StoreMigration(name, try node.named("migration \(name)").items().map(step))
        } ?? []
    }

    private static func step(_ node: ConfigurationNode) throws -> StoreMigration.Step {
        let members = try node.members(verbs + ["table", "to"])
        let named = verbs.filter { members[$0] != nil }
        guard let table = try members["table"]?.text(), let verb = named.first, named.count == 1,
            let value = members[verb]
        else { throw node.refusal("a step needs a table and one of \(verbs.joined(separator: ", "))") }
        func target() throws -> ConfigurationNode {
            guard let target = members["to"] else { throw node.refusal("a step needs to, beside \(verb)") }
            return target
        }
        if ["drop", "rename-table", "drop-table"].contains(verb), members["to"] != nil {
            throw node.refusal("a step has no to beside \(verb)")
        }
        switch verb {
        case "rename":
            return .renameProperty(
                PropertyName(try value.text()), to: PropertyName(try target().text()), in: table)
        case "drop": return .dropProperty(PropertyName(try value.text()), of: table)
        case "retype":
            let type = try target().choice(TableSchema.ColumnType.self)
            return .changeType(of: PropertyName(try value.text()), in: table, to: type)
        case "rename-table": return .renameTable(table, to: try value.text())
        default:
            return .dropTable(table, discardsChanges: try value.choice(of: ["refuse", "discard"]) == "discard")
        }
    }
}
