public import SluiceBase
public import SluiceOData

extension EdmModel {
    /// The tables of the sets, each with its columns, and with a reference for each navigation property with known
    /// columns: by its own referential constraint, or by that of the reverse navigation property.
    ///
    /// A navigation property without such columns is left out, like one from many to many: only the service can follow
    /// it. The constraints of v2's associations are not read, so none of its navigation properties is found: declare
    /// them.
    public var linkedTables: [TableSchema] { linkedTables(ODataSettings()) }

    /// Returns the tables for a service with those settings: a set whose rows have ids of their own (`clientID`) is
    /// referred to by its key property, which the service assigns.
    public func linkedTables(_ settings: ODataSettings) -> [TableSchema] {
        tables.map { table in
            var table = table
            guard let set = sets.first(where: { $0.name == table.name }), let type = try? whole(set.type) else {
                return table
            }
            table.references = type.navigation.compactMap { navigation in
                guard var reference = reference(navigation, from: set, type) else { return nil }
                let parent = reference.isCollection ? table.name : reference.table
                let key = reference.isCollection ? reference.column : reference.targetColumn
                guard key == "id", let name = assignedKey(of: parent, settings) else { return reference }
                reference.isAssigned = true
                if reference.isCollection { reference.column = name } else { reference.targetColumn = name }
                return reference
            }
            return table
        }
    }

    /// Returns the key property that the service assigns to rows of the set, if its records have ids of their own.
    private func assignedKey(of name: String, _ settings: ODataSettings) -> PropertyName? {
        guard let table = settings.tables[name], table.clientID != nil,
            let set = sets.first(where: { $0.name == name }), let key = try? whole(set.type).key, key.count == 1,
            key[0] != "id",
            table.assignsKey ?? (try? entitySet(name))??.assignsKey ?? false
        else { return nil }
        return key[0]
    }

    private func reference(
        _ navigation: Navigation, from set: Container, _ type: Structure
    ) -> TableSchema.Reference? {
        let bound = set.bindings[navigation.name.text]
        let candidates = sets.filter { !$0.isSingleton && $0.type == navigation.target }
        guard let target = bound.flatMap({ name in sets.first { $0.name == name } }) ?? candidates.first,
            bound != nil || candidates.count == 1
        else { return nil }
        if let link = navigation.constraints.first, navigation.constraints.count == 1 {
            let (own, other) = (column(link.property, of: type), column(link.referenced, ofSet: target))
            return navigation.isCollection
                ? .init(navigation.name, toMany: target.name, where: other, column: own)
                : .init(navigation.name, to: target.name, by: own, targetColumn: other)
        }
        guard navigation.constraints.isEmpty, let there = try? whole(navigation.target) else { return nil }
        let back = there.navigation.filter { $0.target == type.name && $0.constraints.count == 1 }
        guard back.count == 1, let link = back[0].constraints.first else { return nil }
        let (own, other) = (column(link.referenced, of: type), column(link.property, of: there))
        return navigation.isCollection
            ? .init(navigation.name, toMany: target.name, where: other, column: own)
            : .init(navigation.name, to: target.name, by: own, targetColumn: other)
    }

    private func column(_ name: PropertyName, ofSet set: Container) -> PropertyName {
        (try? whole(set.type)).map { column(name, of: $0) } ?? name
    }

    /// Returns the name of a property in records: a single key is the record's id.
    private func column(_ name: PropertyName, of type: Structure) -> PropertyName { type.key == [name] ? "id" : name }
}
