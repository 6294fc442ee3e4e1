internal import SluiceConfiguration
internal import SluiceCore

/// Reads one table's rules.
struct TableReader {
    private static let keys = [
        "seed", "pageSize", "maxTop", "softDelete", "columns", "ids", "access", "unauthorizedStatus", "perUser", "view",
        "recordsExpire", "tombstonesExpire", "references", "key",
    ]

    private let reader: ConfigurationReader
    private let name: String
    private let node: ConfigurationNode

    init(_ reader: ConfigurationReader, _ name: String, _ node: ConfigurationNode) {
        self.reader = reader
        self.name = name
        self.node = node.named("table \(name)")
    }

    private func perUser(_ node: ConfigurationNode?) throws(SluiceError) -> PropertyName? {
        guard let node else { return nil }
        return PropertyName(try node.text())
    }

    func table() throws(SluiceError) -> BackendConfiguration.Table {
        let members = try node.members(Self.keys)
        var table = BackendConfiguration.Table(name, perUser: try perUser(members["perUser"]))
        if let seed = members["seed"] { table.seed = .file(path: reader.absolute(try seed.text())) }
        if let value = members["pageSize"] { table.pageSize = try value.integer() }
        if let value = members["maxTop"] { table.maxTop = try value.integer() }
        if let value = members["softDelete"] { table.softDelete = try value.flag() }
        table.key = try members["key"]?.text()
        if let value = members["columns"] {
            guard value.isMapping else { throw value.refusal("columns is a mapping of names to types") }
            table.columns = try TableSchema.columns(value)
        }
        if let value = members["ids"] {
            table.ids = try value.choice(BackendConfiguration.Table.IDs.self)
        }
        if let value = members["access"] { table.access = try access(value, table.access) }
        if let value = members["unauthorizedStatus"] { table.unauthorizedStatus = try value.integer() }
        if let value = members["references"] { table.references = try references(value) }
        table.view = try members["view"].map(Self.view)
        table.recordsExpire = try members["recordsExpire"].map(Self.interval)
        table.tombstonesExpire = try members["tombstonesExpire"].map(Self.interval)
        return table
    }

    /// Reads the references by name, each with its column, table and inverse.
    private func references(
        _ node: ConfigurationNode
    ) throws(SluiceError) -> [BackendConfiguration.Table.Reference] {
        var references: [BackendConfiguration.Table.Reference] = []
        for (name, value) in try node.entries() {
            let members = try value.members(["column", "table", "inverse"])
            guard let column = members["column"], let table = members["table"] else {
                throw value.refusal(
                    "a reference has a column and a table, such as { column: customerId, table: customers }")
            }
            references.append(
                .init(
                    PropertyName(name), column: PropertyName(try column.text()), table: try table.text(),
                    inverse: try members["inverse"].map { (node) throws(SluiceError) in PropertyName(try node.text()) })
            )
        }
        return references
    }

    /// Reads one level for all operations, or a mapping of operations to levels with a `default` for the rest.
    private func access(_ node: ConfigurationNode, _ usual: TableAccess) throws(SluiceError) -> TableAccess {
        guard node.isMapping else { return TableAccess(try Self.level(node)) }
        let operations = BackendOperation.allCases
        let members = try node.members(["default"] + operations.map(\.rawValue))
        var access =
            try members["default"].map { (node) throws(SluiceError) in TableAccess(try Self.level(node)) }
            ?? usual
        for operation in operations {
            if let value = members[operation.rawValue] { access[operation] = try Self.level(value) }
        }
        return access
    }

    private static func level(_ node: ConfigurationNode) throws(SluiceError) -> TableAccess.Level {
        try node.choice(TableAccess.Level.self)
    }

    private static func view(_ node: ConfigurationNode) throws(SluiceError) -> QueryExpression {
        let text = try node.text()
        do {
            return try QueryExpression(odata: text)
        } catch {
            throw node.refusal("view: \(error)", character: error.position)
        }
    }

    static func interval(_ node: ConfigurationNode) throws(SluiceError) -> Duration {
        guard let interval = DurationText.interval(try node.text()) else {
            throw node.refusal("\(node.name) is \(DurationText.intervalForms)")
        }
        return interval
    }
}
