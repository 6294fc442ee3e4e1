package import Sluice

/// The fields of a record's copies side by side, each value as its JSON text, with the side that changed it.
package struct FieldComparison {
    let dialect: Dialect
    var base: JSON?
    var local: JSON?
    var server: JSON?

    /// Whether the copies differ in the property. A missing copy differs in nothing. Null equals a missing value,
    /// because servers write either of them.
    package static func differ(_ copies: [JSON?], in name: PropertyName) -> Bool {
        let values = copies.compactMap { $0.map { $0[name] ?? .null } }
        return values.dropFirst().contains { $0 != values[0] }
    }

    /// Whether only the server or the engine sets the property.
    private func isSystem(_ name: PropertyName) -> Bool {
        dialect.isSystemProperty(name) || name == dialect.columns.id
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
        func differ(_ copies: JSON?...) -> Bool { Self.differ(copies, in: name) }
        guard base != nil else { return differ(local, server) ? "both" : "no" }
        return switch (differ(base, local), differ(base, server)) {
        case (false, false): "no"
        case (true, false): "local"
        case (false, true): "server"
        case (true, true): differ(local, server) ? "both" : "same"
        }
    }
}
