internal import SluiceBase

/// Reads CSDL JSON (OData CSDL JSON 4.01).
enum MetadataJSON {
    static func model(of bytes: [UInt8]) throws(SluiceError) -> EdmModel {
        let document: JSON
        do throws(JSONParseError) {
            document = try JSON(parsing: bytes)
        } catch {
            throw SluiceError(.brokenProtocol, "the metadata is no JSON", cause: error)
        }
        guard let version = document["$Version"]?.string, version.hasPrefix("4") else {
            throw SluiceError(.brokenProtocol, "the service's answer is JSON, and no description of OData")
        }
        var reader = Reader()
        let schemas = (document.members ?? []).filter { !$0.name.text.hasPrefix("$") && $0.value.kind == .object }
        for (namespace, schema) in schemas {
            if let alias = schema["$Alias"]?.string { reader.aliases[alias] = namespace.text }
        }
        for (namespace, schema) in schemas { reader.read(schema, namespace.text) }
        for (_, schema) in schemas { reader.annotate(schema["$Annotations"]) }
        return reader.model
    }

    private struct Reader {
        var model = EdmModel(version: .v4)
        var aliases: [String: String] = [:]

        private func resolved(_ name: String) -> String {
            guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), let whole = aliases[String(name[..<dot])] else {
                return name
            }
            return whole + name[dot...]
        }

        mutating func read(_ schema: JSON, _ namespace: String) {
            for (name, item) in schema.members ?? [] where !name.text.hasPrefix("$") && !name.text.contains("@") {
                let whole = "\(namespace).\(name.text)"
                switch item["$Kind"]?.string {
                case "EntityType", "ComplexType": model.structures.append(structure(whole, item))
                case "EnumType":
                    let members = item.names.map(\.text).filter { !$0.hasPrefix("$") && !$0.contains("@") }
                    model.enumerations.append(.init(name: whole, members: members))
                case "TypeDefinition": model.definitions[whole] = item["$UnderlyingType"]?.string ?? ""
                case "EntityContainer": readContainer(item)
                default: break
                }
            }
        }

        private func structure(_ name: String, _ item: JSON) -> EdmModel.Structure {
            var type = EdmModel.Structure(name, isEntity: item["$Kind"]?.string == "EntityType")
            type.base = item["$BaseType"]?.string.map(resolved)
            // A key may be renamed: {"alias": "path"}.
            type.key = (item["$Key"]?.elements ?? []).compactMap { part in
                (part.string ?? part.members?.first?.value.string).map { PropertyName($0) }
            }
            type.annotations = annotations(of: item, "")
            for (name, member) in item.members ?? [] where !name.text.hasPrefix("$") && !name.text.contains("@") {
                let written = resolved(member["$Type"]?.string ?? "Edm.String")
                let isCollection = member["$Collection"]?.bool ?? false
                if member["$Kind"]?.string == "NavigationProperty" {
                    var navigation = EdmModel.Navigation(name, to: written, isCollection: isCollection)
                    for (one, other) in member["$ReferentialConstraint"]?.members ?? [] {
                        guard let other = other.string, !one.text.contains("@") else { continue }
                        navigation.constraints.append(.init(property: one, referenced: PropertyName(other)))
                    }
                    navigation.annotations = annotations(of: member, "")
                    type.navigation.append(navigation)
                } else {
                    var property = EdmModel.Property(name, type: isCollection ? "Collection(\(written))" : written)
                    property.isNullable = member["$Nullable"]?.bool ?? false
                    property.maxLength = member["$MaxLength"]?.int.flatMap { Int(exactly: $0) }
                    property.precision = member["$Precision"]?.int.flatMap { Int(exactly: $0) }
                    property.scale = member["$Scale"]?.int.flatMap { Int(exactly: $0) }
                    property.annotations = annotations(of: member, "")
                    type.properties.append(property)
                }
            }
            return type
        }

        private mutating func readContainer(_ item: JSON) {
            for (name, member) in item.members ?? [] where !name.text.hasPrefix("$") && !name.text.contains("@") {
                if member["$Function"] != nil || member["$Action"] != nil {
                    model.operations.append(name.text)
                } else if let type = member["$Type"]?.string {
                    var set = EdmModel.Container(name.text, type: resolved(type))
                    set.isSingleton = !(member["$Collection"]?.bool ?? false)
                    for (path, target) in member["$NavigationPropertyBinding"]?.members ?? [] {
                        if let target = target.string { set.bindings[path.text] = target }
                    }
                    set.annotations = annotations(of: member, "")
                    model.sets.append(set)
                }
            }
        }

        private func annotations(of item: JSON, _ prefix: String) -> [EdmModel.Annotation] {
            (item.members ?? []).compactMap { name, value in
                guard name.text.hasPrefix("\(prefix)@"), !name.text.dropFirst(prefix.count + 1).contains("@") else {
                    return nil
                }
                return EdmModel.Annotation(String(name.text.dropFirst(prefix.count + 1)), value)
            }
        }

        mutating func annotate(_ targets: JSON?) {
            for (target, item) in targets?.members ?? [] {
                let parts = target.text.split(separator: "/", maxSplits: 1).map(String.init)
                guard let name = parts.first.map(resolved) else { continue }
                let found = annotations(of: item, "")
                if let index = model.structures.firstIndex(where: { $0.name == name }) {
                    if parts.count == 1 {
                        model.structures[index].annotations += found
                    } else if let place = model.structures[index].properties.firstIndex(where: {
                        $0.name.text == parts[1]
                    }) {
                        model.structures[index].properties[place].annotations += found
                    }
                } else if parts.count > 1, let index = model.sets.firstIndex(where: { $0.name == parts[1] }) {
                    model.sets[index].annotations += found
                }
            }
        }
    }
}
