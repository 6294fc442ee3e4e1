internal import SluiceBase

/// Builds a model from the elements of EDMX and CSDL XML, as the parser delivers them.
///
/// v2's navigation properties name an association that may be described later. v4's annotations may stand apart from
/// their targets. Both are resolved at the end.
struct MetadataBuilder {
    private struct End {
        var type = ""
        var isMany = false
    }

    private var version: ODataVersion?
    private var model = EdmModel(version: .v4)
    private var namespace = ""
    private var aliases: [String: String] = [:]
    private var structure: EdmModel.Structure?
    private var property: EdmModel.Property?
    private var navigation: EdmModel.Navigation?
    private var enumeration: EdmModel.Enumeration?
    private var set: EdmModel.Container?
    private var isInKey = false
    /// Of v2: the ends of associations by the association's full name and their roles.
    private var associations: [String: [String: End]] = [:]
    private var association = ""
    /// Of v2: the association and role of each navigation property, by its type and name.
    private var relationships: [(type: Int, property: Int, association: String, role: String)] = []
    private var associationSets: [(association: String, ends: [(role: String, set: String)])] = []
    /// The target of the `Annotations` element that is being read.
    private var target: String?
    private var apart: [(target: String, annotation: EdmModel.Annotation)] = []
    /// The annotation that is being read.
    private var annotation: AnnotationReader?

    /// Returns the model; nil if there was no schema.
    mutating func finished() -> EdmModel? {
        guard let version else { return nil }
        model.version = version
        // Nested types occur in no valid document; entries for them may refer to missing types.
        let placed = relationships.filter {
            model.structures.indices.contains($0.type)
                && model.structures[$0.type].navigation.indices.contains($0.property)
        }
        for relationship in placed {
            let end = associations[resolved(relationship.association)]?[relationship.role] ?? End()
            model.structures[relationship.type].navigation[relationship.property].target = resolved(end.type)
            model.structures[relationship.type].navigation[relationship.property].isCollection = end.isMany
            bind(relationship)
        }
        for index in model.structures.indices {
            model.structures[index].base = model.structures[index].base.map(resolved)
            for place in model.structures[index].properties.indices {
                model.structures[index].properties[place].type = resolvedType(
                    model.structures[index].properties[place].type)
            }
            for place in model.structures[index].navigation.indices {
                let target = model.structures[index].navigation[place].target
                model.structures[index].navigation[place].target = resolved(target)
            }
        }
        for index in model.sets.indices { model.sets[index].type = resolved(model.sets[index].type) }
        for (target, annotation) in apart { place(annotation, at: target) }
        return model
    }

    /// v2: finds the target set of a navigation property, from the sets of its association.
    private mutating func bind(_ relationship: (type: Int, property: Int, association: String, role: String)) {
        let type = model.structures[relationship.type]
        for ends in associationSets where resolved(ends.association) == resolved(relationship.association) {
            guard let to = ends.ends.first(where: { $0.role == relationship.role })?.set else { continue }
            for index in model.sets.indices where resolved(model.sets[index].type) == type.name {
                guard ends.ends.contains(where: { $0.set == model.sets[index].name }) else { continue }
                model.sets[index].bindings[type.navigation[relationship.property].name.text] = to
            }
        }
    }

    /// Returns a name with its namespace in the place of an alias.
    private func resolved(_ name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), let whole = aliases[String(name[..<dot])] else {
            return name
        }
        return whole + name[dot...]
    }

    private func resolvedType(_ type: String) -> String {
        guard type.hasPrefix("Collection("), type.hasSuffix(")") else { return resolved(type) }
        return "Collection(\(resolved(String(type.dropFirst(11).dropLast()))))"
    }

    private mutating func place(_ annotation: EdmModel.Annotation, at target: String) {
        let parts = target.split(separator: "/", maxSplits: 1).map(String.init)
        guard let name = parts.first.map(resolved) else { return }
        if let index = model.structures.firstIndex(where: { $0.name == name }) {
            guard parts.count > 1 else { return model.structures[index].annotations.append(annotation) }
            if let place = model.structures[index].properties.firstIndex(where: { $0.name.text == parts[1] }) {
                model.structures[index].properties[place].annotations.append(annotation)
            } else if let place = model.structures[index].navigation.firstIndex(where: { $0.name.text == parts[1] }) {
                model.structures[index].navigation[place].annotations.append(annotation)
            }
        } else if parts.count > 1, let index = model.sets.firstIndex(where: { $0.name == parts[1] }) {
            model.sets[index].annotations.append(annotation)
        }
    }

    // MARK: Elements

    mutating func text(_ text: String) {
        annotation?.text(text)
    }

    mutating func begin(_ element: String, _ attributes: [String: String]) {
        if annotation != nil {
            annotation?.begin(element, attributes)
            return
        }
        let name = attributes["Name"] ?? ""
        switch element {
        case "Edmx": version = attributes["Version"]?.hasPrefix("4") ?? false ? .v4 : .v2
        case "Schema":
            namespace = attributes["Namespace"] ?? ""
            if let alias = attributes["Alias"] { aliases[alias] = namespace }
        case "EntityType", "ComplexType":
            var type = EdmModel.Structure("\(namespace).\(name)", isEntity: element == "EntityType")
            type.base = attributes["BaseType"]
            type.annotations = others(attributes)
            structure = type
        case "Key": isInKey = true
        case "PropertyRef": if isInKey { structure?.key.append(PropertyName(name)) }
        case "Property": if structure != nil { property = property(name, attributes) }
        case "NavigationProperty": beginNavigation(name, attributes)
        case "ReferentialConstraint":
            if let one = attributes["Property"], let other = attributes["ReferencedProperty"] {
                navigation?.constraints.append(
                    .init(property: PropertyName(one), referenced: PropertyName(other)))
            }
        case "EnumType": enumeration = EdmModel.Enumeration(name: "\(namespace).\(name)")
        case "Member": enumeration?.members.append(name)
        case "TypeDefinition": model.definitions["\(namespace).\(name)"] = attributes["UnderlyingType"] ?? ""
        case "Association": association = "\(namespace).\(name)"
        case "AssociationSet": associationSets.append((attributes["Association"] ?? "", []))
        case "End": beginEnd(attributes)
        case "EntitySet", "Singleton":
            var set = EdmModel.Container(name, type: attributes["EntityType"] ?? attributes["Type"] ?? "")
            set.isSingleton = element == "Singleton"
            set.annotations = others(attributes)
            self.set = set
        case "NavigationPropertyBinding":
            if let path = attributes["Path"], let target = attributes["Target"] { set?.bindings[path] = target }
        case "FunctionImport", "ActionImport": model.operations.append(name)
        case "Annotations": target = attributes["Target"]
        case "Annotation": annotation = AnnotationReader(attributes)
        default: break
        }
    }

    mutating func end(_ element: String) {
        if annotation != nil {
            if let found = annotation?.end(element) { keep(found) }
            return
        }
        switch element {
        case "EntityType", "ComplexType":
            if let structure { model.structures.append(structure) }
            structure = nil
        case "Key": isInKey = false
        case "Property":
            if let property { structure?.properties.append(property) }
            property = nil
        case "NavigationProperty":
            if let navigation { structure?.navigation.append(navigation) }
            navigation = nil
        case "EnumType":
            if let enumeration { model.enumerations.append(enumeration) }
            enumeration = nil
        case "EntitySet", "Singleton":
            if let set { model.sets.append(set) }
            set = nil
        case "Annotations": target = nil
        default: break
        }
    }

    private func property(_ name: String, _ attributes: [String: String]) -> EdmModel.Property {
        var property = EdmModel.Property(PropertyName(name), type: attributes["Type"] ?? "Edm.String")
        property.isNullable = attributes["Nullable"] != "false"
        property.maxLength = attributes["MaxLength"].flatMap { Int($0) }
        property.precision = attributes["Precision"].flatMap { Int($0) }
        property.scale = attributes["Scale"].flatMap { Int($0) }
        property.annotations = others(attributes)
        return property
    }

    private mutating func beginNavigation(_ name: String, _ attributes: [String: String]) {
        guard let structure else { return }
        let type = attributes["Type"] ?? ""
        let isCollection = type.hasPrefix("Collection(")
        let target = isCollection ? String(type.dropFirst(11).dropLast()) : type
        var found = EdmModel.Navigation(PropertyName(name), to: target, isCollection: isCollection)
        found.annotations = others(attributes)
        navigation = found
        if let association = attributes["Relationship"], let role = attributes["ToRole"] {
            relationships.append((model.structures.count, structure.navigation.count, association, role))
        }
    }

    private mutating func beginEnd(_ attributes: [String: String]) {
        let role = attributes["Role"] ?? ""
        if let set = attributes["EntitySet"] {
            if !associationSets.isEmpty { associationSets[associationSets.count - 1].ends.append((role, set)) }
        } else if let type = attributes["Type"] {
            associations[association, default: [:]][role] = End(type: type, isMany: attributes["Multiplicity"] == "*")
        }
    }

    /// Returns the attributes of other namespaces: those with a prefix.
    private func others(_ attributes: [String: String]) -> [EdmModel.Annotation] {
        attributes.filter { $0.key.utf8.contains(UInt8(ascii: ":")) && !$0.key.hasPrefix("xml") }
            .sorted { $0.key < $1.key }.map { EdmModel.Annotation($0.key, JSON($0.value)) }
    }

    private mutating func keep(_ found: EdmModel.Annotation) {
        annotation = nil
        if let target {
            apart.append((target, found))
        } else if property != nil {
            property?.annotations.append(found)
        } else if navigation != nil {
            navigation?.annotations.append(found)
        } else if structure != nil {
            structure?.annotations.append(found)
        } else {
            set?.annotations.append(found)
        }
    }
}

/// Reads one `Annotation` element of CSDL XML: its value in the form of CSDL JSON (OData CSDL JSON 4.01, section 14.4).
///
/// Records become objects and collections become lists. Of expressions other than constants and paths only their
/// presence is kept.
struct AnnotationReader {
    private let term: String
    /// The open elements, the annotation first, each with its value so far.
    private var open: [(property: String?, value: JSON?)]
    private var characters = ""

    init(_ attributes: [String: String]) {
        term = attributes["Term"] ?? ""
        open = [(nil, Self.value(of: attributes))]
    }

    /// Takes characters, of long texts only the beginning.
    mutating func text(_ text: String) {
        if characters.utf8.count < 4096 { characters += text }
    }

    mutating func begin(_ element: String, _ attributes: [String: String]) {
        characters = ""
        switch element {
        case "Record": open.append((nil, .object))
        case "Collection": open.append((nil, .array))
        case "PropertyValue": open.append((attributes["Property"], Self.value(of: attributes)))
        default: open.append((nil, nil))
        }
    }

    /// Ends an element.
    ///
    /// - Returns: the annotation if that was the outermost element.
    mutating func end(_ element: String) -> EdmModel.Annotation? {
        guard let ended = open.popLast() else { return nil }
        let value = ended.value ?? Self.constant(element, characters) ?? JSON(true)
        characters = ""
        guard let last = open.indices.last else { return EdmModel.Annotation(term, value) }
        // Annotations of values describe them, and are no part of them.
        if element == "Annotation" { return nil }
        switch open[last].value?.kind {
        case .object: if let property = ended.property { open[last].value?[PropertyName(property)] = value }
        case .array: open[last].value?.append(value)
        default: open[last].value = value
        }
        return nil
    }

    /// Returns the value in an attribute.
    private static func value(of attributes: [String: String]) -> JSON? {
        attributes.sorted { $0.key < $1.key }.lazy.compactMap { constant($0.key, $0.value) }.first
    }

    /// Returns the constant or path of that kind; nil for a kind that is neither.
    private static func constant(_ kind: String, _ text: String) -> JSON? {
        switch kind {
        case "Bool": JSON(text == "true")
        case "String", "EnumMember", "Path", "PropertyPath", "NavigationPropertyPath", "AnnotationPath", "Date",
            "DateTimeOffset", "Duration", "Guid", "TimeOfDay":
            JSON(text)
        case "Int", "Decimal", "Float": JSON.Number(text: text).map { JSON($0) } ?? JSON(text)
        default: nil
        }
    }
}
