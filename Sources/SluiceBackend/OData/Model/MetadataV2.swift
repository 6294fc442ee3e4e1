internal import SluiceCore
internal import SluiceOData

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

    /// The two ends of an association: whose records refer, and those that are referred to.
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
