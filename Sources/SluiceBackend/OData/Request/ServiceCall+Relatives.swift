internal import SluiceCore

extension ServiceCall {
    /// The set's table with its links, and the tables that these and theirs lead to, as filters and orders may name their
    /// properties.
    func relatives(of set: EntitySet) -> QueryRelatives {
        var main = set.table.schema
        main.references = references(of: set)
        var tables: [String: QueryRelatives.Table] = [:]
        var waiting = [set]
        while let next = waiting.popLast() {
            for link in next.links {
                guard let target = model.set(link.target), tables[target.table.name] == nil else { continue }
                tables[target.table.name] = table(target)
                waiting.append(target)
            }
        }
        return QueryRelatives(main, tables)
    }

    private func table(_ set: EntitySet) -> QueryRelatives.Table {
        let request = tableRequest(set)
        var shown = set.table.schema
        // What no client can name is not there for it.
        shown.columns.removeAll { request.column($0.name) != $0.name }
        shown.references = references(of: set)
        return QueryRelatives.Table(schema: shown, stored: set.table.schema)
    }

    private func references(of set: EntitySet) -> [TableSchema.Reference] {
        set.links.compactMap { link in
            guard let target = model.set(link.target)?.table.name else { return nil }
            let name = ODataName.decoded(link.name)
            return link.isCollection
                ? .init(name, toMany: target, where: link.column) : .init(name, to: target, by: link.column)
        }
    }
}
