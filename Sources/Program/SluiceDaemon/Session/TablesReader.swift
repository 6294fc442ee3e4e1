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

    /// Returns the settings of an OData service and its entity sets, which complete its metadata.
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

    /// Returns the pulls of the schedule: each named query, and each whole table without one, except local tables.
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
        try node?.entries().map { name, _, node in
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
            let type = try target().choice(of: TableSchema.ColumnType.allCases.map(\.rawValue))
            return .changeType(
                of: PropertyName(try value.text()), in: table, to: TableSchema.ColumnType(rawValue: type) ?? .json)
        case "rename-table": return .renameTable(table, to: try value.text())
        default:
            return .dropTable(table, discardsChanges: try value.choice(of: ["refuse", "discard"]) == "discard")
        }
    }
}

/// The OData settings of `sync.yaml`, which complete a service's metadata.
///
/// ```yaml
/// odata:
///   update: merge                 # or put, which sends rows whole
///   tunnel: false                 # changes as POST with X-HTTP-Method, for networks that pass nothing else
///   batches: automatic            # or multipart, json, off
///   remembers-requests: false     # whether it tells repeats by the request's id (Repeatable Requests)
/// tables:
///   Orders:
///     odata:
///       updated-at: ChangedAt     # changes are followed by it where there are no delta links
///       client-id: ExternalRef    # holds the id of a row that was made here, where the service assigns keys
///       assigns-key: true         # else as the metadata says
///       delta: true               # false never asks for delta links
///       key: { Number: String }   # of a service without metadata
/// ```
enum ODataConfiguration {
    static func settings(_ node: ConfigurationNode?) throws -> ODataSettings {
        var settings = ODataSettings()
        guard let members = try node?.members(["update", "tunnel", "batches", "remembers-requests"]) else {
            return settings
        }
        if let update = try members["update"]?.choice(of: ODataSettings.Update.allCases.map(\.rawValue)) {
            settings.update = ODataSettings.Update(rawValue: update) ?? .merge
        }
        settings.tunnelsMethods = try members["tunnel"]?.flag() ?? false
        settings.remembersRequests = try members["remembers-requests"]?.flag() ?? false
        if let batches = try members["batches"]?.choice(of: ODataSettings.Batches.allCases.map(\.rawValue)) {
            settings.batches = ODataSettings.Batches(rawValue: batches) ?? .automatic
        }
        return settings
    }

    static func table(_ node: ConfigurationNode) throws -> ODataSettings.Table {
        let members = try node.members(["updated-at", "client-id", "assigns-key", "delta", "key"])
        var table = ODataSettings.Table()
        table.updatedAt = try members["updated-at"].map { PropertyName(try $0.text()) }
        table.clientID = try members["client-id"].map { PropertyName(try $0.text()) }
        table.assignsKey = try members["assigns-key"]?.flag()
        table.tracksChanges = try members["delta"]?.flag() ?? true
        let types = EdmPrimitive.allCases.map { String($0.rawValue.dropFirst("Edm.".count)) }
        table.key =
            try members["key"]?.entries().compactMap { name, _, node in
                EdmPrimitive(rawValue: "Edm.\(try node.choice(of: types))").map { .init(PropertyName(name), $0) }
            } ?? []
        return table
    }
}
