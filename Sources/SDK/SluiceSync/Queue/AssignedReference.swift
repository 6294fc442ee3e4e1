package import SluiceBase

/// A column that refers to records by a key which the service assigns. Until the key is known, the column holds the
/// record's local id.
package struct AssignedReference: Sendable, Hashable {
    /// The table that holds the references.
    package let child: String
    /// The property that holds the key of the referenced record.
    package let column: PropertyName
    /// The referenced table.
    package let parent: String
    /// The property of the referenced table that the service assigns.
    package let key: PropertyName

    /// Returns the tables' references by a key that the service assigns.
    package static func all(in tables: [TableSchema]) -> [AssignedReference] {
        all(in: tables) { $0.isAssigned }.filter { $0.key != "id" }
    }

    /// Returns the tables' references by the record's id, which becomes the key once the service has assigned it.
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
