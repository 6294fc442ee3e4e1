internal import SluiceConfiguration
internal import SluiceCore

extension BackendConfiguration {
    /// Checks the tables' references: each leads from a column to a table, and no two things have one name.
    ///
    /// - Throws: ``ConfigurationMistake``.
    func checkReferences() throws(ConfigurationMistake) {
        var taken: [String: Set<String>] = [:]
        for table in tables {
            let columns = table.columns.map(\.name) + ["id"] + SystemColumn.all
            taken[table.name] = Set(columns.map { $0.text.lowercased() })
        }
        for (index, table) in tables.enumerated() {
            for reference in table.references {
                func mistake(_ reason: String) -> ConfigurationMistake {
                    ConfigurationMistake(
                        reason: "the reference \(reference.name) \(reason)", table: table.name, index: index,
                        key: "references")
                }
                guard let target = tables.first(where: { $0.name == reference.table }) else {
                    let hint = NearestKey.suggestion(for: reference.table, among: tables.map(\.name)) ?? ""
                    throw mistake("leads to the table \(reference.table), which is not configured\(hint)")
                }
                try check(reference, of: table, to: target, mistake)
                let names =
                    [(table.name, reference.name.text)] + (reference.inverse.map { [(target.name, $0.text)] } ?? [])
                for (owner, name) in names {
                    guard !name.isEmpty, taken[owner, default: []].insert(name.lowercased()).inserted else {
                        throw mistake("gives \(owner) the name \(name), which is there already, or empty")
                    }
                }
            }
        }
    }

    private func check(
        _ reference: Table.Reference, of table: Table, to target: Table,
        _ mistake: (String) -> ConfigurationMistake
    ) throws(ConfigurationMistake) {
        guard reference.column != "id", !SystemColumn.all.contains(reference.column) else {
            throw mistake("needs a column of the table's own, not \(reference.column)")
        }
        guard !table.columns.isEmpty else { return }
        guard let column = table.columns.first(where: { $0.name == reference.column }) else {
            let hint = NearestKey.suggestion(for: reference.column.text, among: table.columns.map(\.name.text)) ?? ""
            throw mistake("uses the column \(reference.column), which is not among the columns\(hint)")
        }
        guard column.type == .string || (column.type == .integer && target.ids == .integer) else {
            throw mistake(
                "holds ids of \(target.name), and the column \(reference.column) is of type \(column.type.rawValue)")
        }
    }
}
