internal import SluiceCore
internal import SluiceOData

/// What a backend's OData service consists of: its entity sets, and the names of their types.
struct ServiceModel: Sendable {
    let namespace: String
    let sets: [EntitySet]
    /// The container's name, which is no type's.
    let container: String

    init(_ odata: BackendConfiguration.OData, _ tables: [BackendTable]) {
        namespace = odata.namespace
        let rules = tables.map(\.rules)
        sets = tables.map { table in
            EntitySet(
                name: Self.identifier(table.name), table: table, properties: Self.properties(table),
                links: Self.links(of: table.rules, among: rules))
        }
        var container = "Container"
        while sets.contains(where: { $0.name == container }) { container += "_" }
        self.container = container
    }

    func set(_ name: String) -> EntitySet? { sets.first { $0.name == name } }
    func set(ofTable name: String) -> EntitySet? { sets.first { $0.table.name == name } }

    /// A table's name as an identifier: what may not stand in one is written `_xHHHH_`, as in properties' names.
    static func identifier(_ name: String) -> String { ODataName.encoded(PropertyName(name)) }

    private static func properties(_ table: BackendTable) -> [EntitySet.Property] {
        var properties = [
            EntitySet.Property(
                name: "id", column: "id", type: table.rules.ids == .integer ? .int64 : .string,
                isComputed: table.rules.ids == .integer)
        ]
        for column in table.schema.columns
        where !SystemColumn.all.contains(column.name) && !SystemColumn.hidden.contains(column.name) {
            properties.append(
                EntitySet.Property(
                    name: ODataName.encoded(column.name), column: column.name, type: column.type.edm,
                    isComputed: column.name == table.rules.perUser, isJSON: column.type == .json))
        }
        for column in [SystemColumn.createdAt, SystemColumn.updatedAt] {
            properties.append(
                EntitySet.Property(name: column.text, column: column, type: .dateTimeOffset, isComputed: true))
        }
        return properties
    }

    private static func links(
        of table: BackendConfiguration.Table, among tables: [BackendConfiguration.Table]
    ) -> [EntitySet.Link] {
        var links: [EntitySet.Link] = []
        for other in tables {
            for reference in other.references {
                let name = ODataName.encoded(reference.name)
                let inverse = reference.inverse.map { ODataName.encoded($0) }
                let association = "\(identifier(other.name))_\(name)"
                if other.name == table.name {
                    links.append(
                        EntitySet.Link(
                            name: name, column: reference.column, isCollection: false,
                            target: identifier(reference.table), partner: inverse, association: association))
                }
                if reference.table == table.name, let inverse {
                    links.append(
                        EntitySet.Link(
                            name: inverse, column: reference.column, isCollection: true,
                            target: identifier(other.name), partner: name, association: association))
                }
            }
        }
        return links
    }
}
