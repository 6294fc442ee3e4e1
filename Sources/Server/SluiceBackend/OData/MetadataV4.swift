internal import SluiceCore
internal import SluiceOData

extension ServiceModel {
    /// `$metadata` in XML (CSDL XML 4.01).
    func csdl(version: ServiceVersion, operations: [ODataOperation]) -> String {
        var xml = XMLWriter()
        let edmx = "http://docs.oasis-open.org/odata/ns/edmx"
        xml.element("edmx:Edmx", ["xmlns:edmx": edmx, "Version": version == .v401 ? "4.01" : "4.0"]) { xml in
            let core = "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.Core.V1.xml"
            xml.element("edmx:Reference", ["Uri": core]) {
                $0.element("edmx:Include", ["Namespace": "Org.OData.Core.V1", "Alias": "Core"])
            }
            xml.element("edmx:DataServices") { xml in
                xml.element("Schema", ["xmlns": "http://docs.oasis-open.org/odata/ns/edm", "Namespace": namespace]) {
                    for set in sets { entityType(set, &$0) }
                    for operation in operations { self.operation(operation, &$0) }
                    container(operations, &$0)
                }
            }
        }
        return xml.text
    }

    private func entityType(_ set: EntitySet, _ xml: inout XMLWriter) {
        // The type is open for undeclared properties, and JSON properties have no type.
        xml.element("EntityType", ["Name": set.name, "OpenType": "true"]) { xml in
            xml.element("Key") { $0.element("PropertyRef", ["Name": set.key.name]) }
            for property in set.properties where !property.isJSON {
                let isKey = property.name == set.key.name
                xml.element(
                    "Property",
                    [
                        "Name": property.name, "Type": property.type.rawValue, "Nullable": isKey ? "false" : nil,
                        "MaxLength": isKey && !set.hasIntegerIDs ? "255" : nil,
                        "Precision": property.type == .dateTimeOffset ? "7" : nil,
                    ]
                ) { xml in
                    if property.isComputed { xml.element("Annotation", ["Term": "Core.Computed", "Bool": "true"]) }
                }
            }
            for link in set.links {
                let type = "\(namespace).\(link.target)"
                xml.element(
                    "NavigationProperty",
                    [
                        "Name": link.name, "Type": link.isCollection ? "Collection(\(type))" : type,
                        "Partner": link.partner,
                    ]
                ) { xml in
                    guard !link.isCollection, let property = set.property(of: link.column),
                        let target = self.set(link.target), property.type == target.key.type
                    else { return }
                    xml.element(
                        "ReferentialConstraint",
                        ["Property": property.name, "ReferencedProperty": target.key.name])
                }
            }
        }
    }

    private func operation(_ operation: ODataOperation, _ xml: inout XMLWriter) {
        xml.element(operation.isFunction ? "Function" : "Action", ["Name": operation.name]) { xml in
            for parameter in operation.parameters {
                xml.element("Parameter", ["Name": parameter.name, "Type": parameter.type.edm.rawValue])
            }
            if let type = operation.result.type(in: self) { xml.element("ReturnType", ["Type": type]) }
        }
    }

    private func container(_ operations: [ODataOperation], _ xml: inout XMLWriter) {
        xml.element("EntityContainer", ["Name": container]) { xml in
            for set in sets {
                xml.element("EntitySet", ["Name": set.name, "EntityType": "\(namespace).\(set.name)"]) { xml in
                    for link in set.links {
                        xml.element("NavigationPropertyBinding", ["Path": link.name, "Target": link.target])
                    }
                }
            }
            for operation in operations {
                let kind = operation.isFunction ? "Function" : "Action"
                let set = operation.result.table.flatMap { self.set(ofTable: $0)?.name }
                if operation.isFunction {
                    xml.element(
                        "FunctionImport",
                        [
                            "Name": operation.name, kind: "\(namespace).\(operation.name)", "EntitySet": set,
                            "IncludeInServiceDocument": operation.parameters.isEmpty ? "true" : nil,
                        ])
                } else {
                    xml.element(
                        "ActionImport",
                        ["Name": operation.name, kind: "\(namespace).\(operation.name)", "EntitySet": set])
                }
            }
        }
    }
}
