internal import SluiceBase

/// Declares that the records of one table refer to records of another. A push makes parents before their children, and
/// deletes a parent after the operations queued before it on its children.
///
/// ```swift
/// var options = SyncOptions()
/// options.dependencies = [TableDependency("items", on: "lists", by: "listId")]
/// ```
public struct TableDependency: Sendable, Hashable {
    /// The table of the referring records.
    public var child: String
    /// The table of the referenced records.
    public var parent: String
    /// The child's property with the parent's id. If nil, each insert of a child waits for every insert of a parent.
    public var column: String?

    /// A dependency. With `column` a child waits for its own parent alone, and a failed parent does not hold back
    /// other parents' children.
    public init(_ child: String, on parent: String, by column: String? = nil) {
        self.child = child
        self.parent = parent
        self.column = column
    }

    /// Returns the dependencies by the references of tables, without the declared ones. A record that holds another's
    /// key is sent after the record that creates the key. References of a table to itself, or in a circle, are left
    /// out.
    static func along(_ tables: [TableSchema], declared: [TableDependency]) -> [TableDependency] {
        var links: [TableDependency] = []
        for table in tables {
            for reference in table.references {
                let link =
                    reference.isCollection
                    ? TableDependency(reference.table, on: table.name, by: reference.targetColumn.text)
                    : TableDependency(table.name, on: reference.table, by: reference.column.text)
                if link.child != link.parent, link.column != "id", !links.contains(link) { links.append(link) }
            }
        }
        let all = Dictionary(grouping: declared + links, by: \.child).mapValues { Set($0.map(\.parent)) }
        func leads(_ start: String, to end: String) -> Bool {
            var (seen, next): (Set<String>, [String]) = ([], [start])
            while let table = next.popLast() {
                if table == end { return true }
                for parent in all[table] ?? [] where seen.insert(parent).inserted { next.append(parent) }
            }
            return false
        }
        return links.filter { !declared.contains($0) && !leads($0.parent, to: $0.child) }
    }

    /// Checks that no table depends on itself through others. A table whose records refer to each other, as folders
    /// do, is allowed if the dependency names the column.
    static func validate(_ dependencies: [TableDependency]) throws(SluiceError) {
        var parents: [String: Set<String>] = [:]
        for dependency in dependencies {
            try SyncTables.validate(dependency.child)
            try SyncTables.validate(dependency.parent)
            if dependency.child == dependency.parent, dependency.column != nil { continue }
            parents[dependency.child, default: []].insert(dependency.parent)
        }
        for table in parents.keys.sorted() {
            if let circle = circle(from: table, [table], parents) {
                throw SluiceError(
                    .invalidArgument,
                    "tables cannot depend on each other in a circle: \(circle.joined(separator: " on "))", table: table)
            }
        }
    }

    private static func circle(from table: String, _ path: [String], _ parents: [String: Set<String>]) -> [String]? {
        for parent in (parents[table] ?? []).sorted() {
            if parent == path[0] { return path + [parent] }
            if path.contains(parent) { continue }
            if let circle = circle(from: parent, path + [parent], parents) { return circle }
        }
        return nil
    }
}
