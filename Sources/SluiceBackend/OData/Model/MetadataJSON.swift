internal import SluiceCore
internal import SluiceOData

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
