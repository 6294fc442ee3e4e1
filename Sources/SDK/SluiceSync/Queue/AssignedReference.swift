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

    /// Those of the tables' references that are by a key which the service assigns.
    package static func all(in tables: [TableSchema]) -> [AssignedReference] {
        all(in: tables) { $0.isAssigned }.filter { $0.key != "id" }
    }

    /// Those that are by the record's id, which is the key once the service has assigned it.
    package static func byID(in tables: [TableSchema]) -> [AssignedReference] {
        all(in: tables) { _ in true }.filter { $0.key == "id" }
    }

    private static func all(
        in tables: [TableSchema], where isTaken: (TableSchema.Reference) -> Bool
    ) -> [AssignedReference] {
        var found: [AssignedReference] = []
        for table in tables {
            for reference in table.references where isTaken(reference) {
                let one =
                    reference.isCollection
                    ? AssignedReference(
                        child: reference.table, column: reference.targetColumn, parent: table.name,
                        key: reference.column)
                    : AssignedReference(
                        child: table.name, column: reference.column, parent: reference.table,
                        key: reference.targetColumn)
                if !found.contains(one) { found.append(one) }
            }
        }
        return found
    }

    package init(child: String, column: PropertyName, parent: String, key: PropertyName) {
        (self.child, self.column, self.parent, self.key) = (child, column, parent, key)
    }
}
