internal import Sluice

/// The fields of a record's copies side by side, each value as its JSON text, with who changed it.
struct FieldComparison {
    let dialect: Dialect
    var base: JSON?
    var local: JSON?
    var server: JSON?

    /// Whether the server or the engine sets the property, and no one else.
    private func isSystem(_ name: PropertyName) -> Bool {
        let columns = dialect.columns
        return dialect.isSystemProperty(name) || name == columns.id || name == dialect.createdAtColumn
    }

    /// The fields in the order of the local record: `name`, `base`, `local` and `server` as far as there are such,
    /// `system`, and `changed`: `no`, `local`, `server`, `same` for one change on both sides, or `both`.
    var json: JSON {
        var names: [PropertyName] = []
        var seen: Set<PropertyName> = []
        for name in [local, server, base].flatMap({ $0?.names ?? [] }) where seen.insert(name).inserted {
            names.append(name)
        }
        return JSON(
            names.map { name in
                var field: JSON = ["name": JSON(name), "system": JSON(isSystem(name)), "changed": JSON(changed(name))]
                field["base"] = base?[name].map { JSON($0.description) }
                field["local"] = local?[name].map { JSON($0.description) }
                field["server"] = server?[name].map { JSON($0.description) }
                return field
            })
    }

    private func changed(_ name: PropertyName) -> String {
        let (local, server) = (local?[name], server?[name])
        guard let base else { return self.local == nil || self.server == nil || local == server ? "no" : "both" }
        let (mine, theirs) = (self.local != nil && local != base[name], self.server != nil && server != base[name])
        return switch (mine, theirs) {
        case (false, false): "no"
        case (true, false): "local"
        case (false, true): "server"
        case (true, true): local == server ? "same" : "both"
        }
    }
}
