internal import SluiceCore
internal import SluiceOData

/// The model of a backend's OData service: its entity sets, and the names of their types.
struct ServiceModel: Sendable {
    let namespace: String
    let sets: [EntitySet]
    /// The container's name, distinct from all types.
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

    /// Returns a table's name as an identifier: invalid characters become `_xHHHH_`, as in properties' names.
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

extension ServiceModel {
    /// `$metadata` in JSON (CSDL JSON 4.01).
    func csdlJSON(operations: [ODataOperation]) -> JSON {
        var schema = JSON.object
        for set in sets { schema[set.name] = entityType(set) }
        for operation in operations { schema[operation.name] = [self.operation(operation)] }
        schema[container] = containerJSON(operations)
        let core = "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.json"
        return JSON(
            members: [
                ("$Version", "4.01"), ("$EntityContainer", JSON("\(namespace).\(container)")),
                ("$Reference", [core: ["$Include": [["$Namespace": "Org.OData.Core.V1", "$Alias": "Core"]]]]),
                (namespace, schema),
            ] as [(String, JSON)])
    }

    private func entityType(_ set: EntitySet) -> JSON {
        var type: JSON = ["$Kind": "EntityType", "$OpenType": true, "$Key": [JSON(set.key.name)]]
        for property in set.properties where !property.isJSON {
            var declared = JSON.object
            if property.type != .string { declared["$Type"] = JSON(property.type.rawValue) }
            if property.name != set.key.name { declared["$Nullable"] = true }
            if property.name == set.key.name, !set.hasIntegerIDs { declared["$MaxLength"] = 255 }
            if property.type == .dateTimeOffset { declared["$Precision"] = 7 }
            if property.isComputed { declared["@Core.Computed"] = true }
            type[property.name] = declared
        }
        for link in set.links {
            var declared: JSON = ["$Kind": "NavigationProperty", "$Type": JSON("\(namespace).\(link.target)")]
            if link.isCollection { declared["$Collection"] = true } else { declared["$Nullable"] = true }
            if let partner = link.partner { declared["$Partner"] = JSON(partner) }
            if !link.isCollection, let property = set.property(of: link.column), let target = self.set(link.target),
                property.type == target.key.type
            {
                declared["$ReferentialConstraint"] = JSON(members: [(property.name, JSON(target.key.name))])
            }
            type[link.name] = declared
        }
        return type
    }

    private func operation(_ operation: ODataOperation) -> JSON {
        var declared: JSON = ["$Kind": operation.isFunction ? "Function" : "Action"]
        if !operation.parameters.isEmpty {
            declared["$Parameter"] = JSON(
                operation.parameters.map { ["$Name": JSON($0.name), "$Type": JSON($0.type.edm.rawValue)] as JSON })
        }
        if let type = operation.result.type(in: self) {
            let isCollection = type.hasPrefix("Collection(")
            let name = isCollection ? String(type.dropFirst("Collection(".count).dropLast()) : type
            declared["$ReturnType"] = ["$Type": JSON(name), "$Collection": JSON(isCollection)]
        }
        return declared
    }

    private func containerJSON(_ operations: [ODataOperation]) -> JSON {
        var container: JSON = ["$Kind": "EntityContainer"]
        for set in sets {
            var declared: JSON = ["$Collection": true, "$Type": JSON("\(namespace).\(set.name)")]
            if !set.links.isEmpty {
                declared["$NavigationPropertyBinding"] = JSON(members: set.links.map { ($0.name, JSON($0.target)) })
            }
            container[set.name] = declared
        }
        for operation in operations {
            var declared = JSON.object
            declared[operation.isFunction ? "$Function" : "$Action"] = JSON("\(namespace).\(operation.name)")
            if let table = operation.result.table, let set = set(ofTable: table) {
                declared["$EntitySet"] = JSON(set.name)
            }
            container[operation.name] = declared
        }
        return container
    }
}

extension ServiceModel {
    /// `$metadata` of v2: EDMX 1.0 with a schema of CSDL 2.0.
    func edmx(operations: [ODataOperation]) -> String {
        var xml = XMLWriter()
        let edmx = "http://schemas.microsoft.com/ado/2007/06/edmx"
        xml.element("edmx:Edmx", ["xmlns:edmx": edmx, "Version": "1.0"]) { xml in
            xml.element(
                "edmx:DataServices",
                [
                    "xmlns:m": "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata",
                    "m:DataServiceVersion": "2.0",
                ]
            ) { xml in
                xml.element(
                    "Schema",
                    ["xmlns": "http://schemas.microsoft.com/ado/2008/09/edm", "Namespace": namespace]
                ) { xml in
                    for set in sets { entityTypeV2(set, &xml) }
                    for set in sets {
                        for link in set.links where !link.isCollection { association(set, link, &xml) }
                    }
                    containerV2(operations, &xml)
                }
            }
        }
        return xml.text
    }

    private func entityTypeV2(_ set: EntitySet, _ xml: inout XMLWriter) {
        xml.element("EntityType", ["Name": set.name]) { xml in
            xml.element("Key") { $0.element("PropertyRef", ["Name": set.key.name]) }
            for property in set.properties {
                let isKey = property.name == set.key.name
                xml.element(
                    "Property",
                    [
                        "Name": property.name, "Type": property.type.rawValue, "Nullable": isKey ? "false" : "true",
                        "MaxLength": isKey && !set.hasIntegerIDs ? "255" : nil,
                        "Precision": property.type == .dateTimeOffset ? "3" : nil,
                    ])
            }
            for link in set.links {
                let (own, other) = roles(link)
                xml.element(
                    "NavigationProperty",
                    [
                        "Name": link.name, "Relationship": "\(namespace).\(link.association)", "FromRole": own,
                        "ToRole": other,
                    ])
            }
        }
    }

    /// Returns the two ends of an association: the referring records and the referenced ones.
    private func roles(_ link: EntitySet.Link) -> (own: String, other: String) {
        link.isCollection ? ("Referenced", "Referring") : ("Referring", "Referenced")
    }

    private func association(_ set: EntitySet, _ link: EntitySet.Link, _ xml: inout XMLWriter) {
        xml.element("Association", ["Name": link.association]) { xml in
            xml.element("End", ["Type": "\(namespace).\(set.name)", "Multiplicity": "*", "Role": "Referring"])
            xml.element("End", ["Type": "\(namespace).\(link.target)", "Multiplicity": "0..1", "Role": "Referenced"])
            guard let property = set.property(of: link.column), let target = self.set(link.target),
                property.type == target.key.type
            else { return }
            xml.element("ReferentialConstraint") { xml in
                xml.element("Principal", ["Role": "Referenced"]) {
                    $0.element("PropertyRef", ["Name": target.key.name])
                }
                xml.element("Dependent", ["Role": "Referring"]) {
                    $0.element("PropertyRef", ["Name": property.name])
                }
            }
        }
    }

    private func containerV2(_ operations: [ODataOperation], _ xml: inout XMLWriter) {
        xml.element("EntityContainer", ["Name": container, "m:IsDefaultEntityContainer": "true"]) { xml in
            for set in sets { xml.element("EntitySet", ["Name": set.name, "EntityType": "\(namespace).\(set.name)"]) }
            for set in sets {
                for link in set.links where !link.isCollection {
                    xml.element(
                        "AssociationSet",
                        ["Name": "\(link.association)Set", "Association": "\(namespace).\(link.association)"]
                    ) { xml in
                        xml.element("End", ["EntitySet": set.name, "Role": "Referring"])
                        xml.element("End", ["EntitySet": link.target, "Role": "Referenced"])
                    }
                }
            }
            for operation in operations {
                xml.element(
                    "FunctionImport",
                    [
                        "Name": operation.name, "ReturnType": operation.result.type(in: self),
                        "EntitySet": operation.result.table.flatMap { self.set(ofTable: $0)?.name },
                        "m:HttpMethod": operation.isFunction ? "GET" : "POST",
                    ]
                ) { xml in
                    for parameter in operation.parameters {
                        xml.element(
                            "Parameter",
                            ["Name": parameter.name, "Type": parameter.type.edm.rawValue, "Mode": "In"])
                    }
                }
            }
        }
    }
}
