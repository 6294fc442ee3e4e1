package import SluiceBase

/// A column that refers to records by a key which the service assigns: until that is known, it holds the id that the record
/// has here.
package struct AssignedReference: Sendable, Hashable {
    /// The table whose records refer to others.
    package let child: String
    /// The property that holds the other's key.
    package let column: PropertyName
    /// The table that they refer to.
    package let parent: String
    /// The property there that the service assigns.
    package let key: PropertyName

    /// Those of the tables' references.
    package static func all(in tables: [TableSchema]) -> [AssignedReference] {
        var found: [AssignedReference] = []
        for table in tables {
            for reference in table.references where reference.isAssigned {
                let one =
                    reference.isCollection
                    ? AssignedReference(
                        child: reference.table, column: reference.targetColumn, parent: table.name,
                        key: reference.column)
                    : AssignedReference(
                        child: table.name, column: reference.column, parent: reference.table,
                        key: reference.targetColumn)
                if one.key != "id", !found.contains(one) { found.append(one) }
            }
        }
        return found
    }

    package init(child: String, column: PropertyName, parent: String, key: PropertyName) {
        (self.child, self.column, self.parent, self.key) = (child, column, parent, key)
    }
}
