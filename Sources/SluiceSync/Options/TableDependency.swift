internal import SluiceBase

/// Declares that the records of one table refer to those of another: a push makes parents before their children, and
/// deletes a parent after what was queued before it on its children.
///
/// ```swift
/// var options = SyncOptions()
/// options.dependencies = [TableDependency("items", on: "lists", by: "listId")]
/// ```
public struct TableDependency: Sendable, Hashable {
    /// The table whose records refer to others.
    public var child: String
    /// The table that they refer to.
    public var parent: String
    /// The child's property that holds the parent's id; nil where there is none, and then each insert of a child waits
    /// for every insert of a parent.
    public var column: String?

    /// A dependency. With `column` a child waits for its own parent alone, and one parent that fails holds back no
    /// other's children.
    public init(_ child: String, on parent: String, by column: String? = nil) {
        self.child = child
        self.parent = parent
        self.column = column
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
