public import SluiceBase

/// What of a model the wire and the local store need.
extension EdmModel {
    /// The set as the wire sees it; nil where the service has none of that name, or a single entity.
    ///
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for a description that contradicts itself, and of
    ///   `invalidArgument` for a set that cannot be synced, with the reason.
    public func entitySet(_ name: String, updatedAt: PropertyName? = nil) throws(SluiceError) -> EntitySet? {
        guard let set = sets.first(where: { $0.name == name && !$0.isSingleton }) else { return nil }
        let type = try whole(set.type)
        var types: [EntitySet.Property] = []
        for property in type.properties {
            if let primitive = primitive(property) { types.append(.init(property.name, primitive)) }
        }
        var key: [EntitySet.Property] = []
        for name in type.key {
            guard let property = type.properties.first(where: { $0.name == name }) else {
                throw SluiceError(.brokenProtocol, "the metadata's key \(name.text) of \(type.name) is no property")
            }
            // An enumeration is written as its member's name.
            key.append(.init(name, primitive(property) ?? .string))
        }
        var found = try EntitySet(name, key: key, properties: types, updatedAt: updatedAt)
        found.structured = Set(type.properties.map(\.name)).subtracting(found.types.keys)
        let (ignored, fixed) = (type.ignored(in: .creation), type.ignored(in: .update))
        let withheld = set.withheldFromCreations.union(ignored)
        found.assignedKey = withheld.intersection(type.key)
        found.notCreatable = withheld.subtracting(type.key)
        found.notUpdatable = set.withheldFromUpdates.union(fixed).subtracting(type.key)
        return found
    }

    /// The tables of the sets: a column for each primitive property. Sets that cannot be synced are left out.
    public var tables: [TableSchema] {
        sets.compactMap { set in
            guard let entitySet = try? entitySet(set.name), let type = try? whole(set.type) else { return nil }
            let columns = type.properties.compactMap { property -> TableSchema.Column? in
                guard property.name.text.lowercased() != "id", !property.name.text.hasPrefix("__") else { return nil }
                return TableSchema.Column(property.name, entitySet.types[property.name]?.column ?? .json)
            }
            return TableSchema(set.name, columns: columns)
        }
    }

    /// The columns that stay on the device: those annotated `ClientOnly`, by set.
    public var clientOnly: [String: Set<PropertyName>] {
        var found: [String: Set<PropertyName>] = [:]
        for set in sets {
            let names = (try? whole(set.type))?.properties.filter { $0.annotations.has("ClientOnly") }.map(\.name) ?? []
            if !names.isEmpty { found[set.name] = Set(names) }
        }
        return found
    }

    /// The sets whose rows stay on the device: those annotated `LocalDraft`, themselves or their types.
    public var localDrafts: Set<String> {
        Set(
            sets.filter {
                $0.annotations.has("LocalDraft") || (structure($0.type)?.annotations.has("LocalDraft") ?? false)
            }
            .map(\.name))
    }
}

extension EdmPrimitive {
    /// The type of a local store's column for it.
    var column: TableSchema.ColumnType {
        switch self {
        case .boolean: .boolean
        case .byte, .sbyte, .int16, .int32, .int64: .integer
        case .single, .double, .decimal: .real
        case .geographyPoint, .geometryPoint: .json
        case .dateTime, .dateTimeOffset: .date
        default: .string
        }
    }
}
