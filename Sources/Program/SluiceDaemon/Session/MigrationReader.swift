internal import Sluice
internal import SluiceConfiguration

/// The migrations of a configuration file: by name, each a list of steps.
///
/// ```yaml
/// migrations:
///   2027-01 titles:
///     - { table: todos, rename: text, to: title }
///     - { table: todos, drop: color }
///     - { table: todos, retype: year, to: integer }
///     - { table: todos, rename-table: tasks }
///     - { table: drafts, drop-table: refuse }      # while changes wait; or discard
/// ```
enum MigrationReader {
    private static let verbs = ["rename", "drop", "retype", "rename-table", "drop-table"]

    static func migrations(_ node: ConfigurationNode?) throws -> [StoreMigration] {
        try node?.entries().map { name, node in
            StoreMigration(name, try node.named("migration \(name)").items().map(step))
        } ?? []
    }

    private static func step(_ node: ConfigurationNode) throws -> StoreMigration.Step {
        let members = try node.members(verbs + ["table", "to"])
        let named = verbs.filter { members[$0] != nil }
        guard let table = try members["table"]?.text(), let verb = named.first, named.count == 1,
            let value = members[verb]
        else { throw node.refusal("a step needs a table and one of \(verbs.joined(separator: ", "))") }
        func target() throws -> ConfigurationNode {
            guard let target = members["to"] else { throw node.refusal("a step needs to, beside \(verb)") }
            return target
        }
        if ["drop", "rename-table", "drop-table"].contains(verb), members["to"] != nil {
            throw node.refusal("a step has no to beside \(verb)")
        }
        switch verb {
        case "rename":
            return .renameProperty(
                PropertyName(try value.text()), to: PropertyName(try target().text()), in: table)
        case "drop": return .dropProperty(PropertyName(try value.text()), of: table)
        case "retype":
            let type = try target().choice(TableSchema.ColumnType.self)
            return .changeType(of: PropertyName(try value.text()), in: table, to: type)
        case "rename-table": return .renameTable(table, to: try value.text())
        default:
            return .dropTable(table, discardsChanges: try value.choice(of: ["refuse", "discard"]) == "discard")
        }
    }
}
