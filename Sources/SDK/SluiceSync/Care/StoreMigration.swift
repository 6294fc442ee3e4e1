public import SluiceBase

/// A change of the shape of records that a new version of an application brings: of tables' and properties' names and
/// of columns' types. It is done once in each store, by its name, before anything else is done with the store.
///
/// ```swift
/// let context = try await SyncContext(
///     client: client, store: store, tables: [TableSchema("tasks")],
///     migrations: [
///         StoreMigration("2027-01-titles", [.renameProperty("text", to: "title", in: "todos")]),
///         StoreMigration("2027-03-tasks", [.renameTable("todos", to: "tasks"), .dropProperty("color", of: "tasks")]),
///     ])
/// ```
///
/// It reaches every copy of a record that the store has: the table, changes that wait, what was sent of them, the
/// server's records on which they were made, the audit. So it stands for what happened to the records here and on the
/// server alike: a server that goes on under the old names sends them again.
///
/// Additions need none: a declared table gets new columns by itself. Keep the migrations of earlier versions in the
/// list, as stores of any age may turn up.
public struct StoreMigration: Sendable {
    /// What it is known by in the store, for good.
    public var name: String
    /// What it does, in this order, in one transaction.
    public var steps: [Step]

    /// A migration.
    public init(_ name: String, _ steps: [Step]) {
        self.name = name
        self.steps = steps
    }

    /// One step. A table that the store does not have has nothing to be changed.
    public struct Step: Sendable {
        enum Action: Sendable {
            case renameTable(to: String)
            case dropTable(discardsChanges: Bool)
            case change(PropertyChange)
        }

        let table: String
        let action: Action

        /// Gives a table another name. What waits for it goes to the other one; its queries start afresh, and a
        /// reconcile finds what has left meanwhile.
        public static func renameTable(_ table: String, to name: String) -> Step {
            Step(table: table, action: .renameTable(to: name))
        }

        /// Removes a table with its records.
        ///
        /// - Parameter discardsChanges: whether changes that wait are given up with it, each noted in the audit;
        ///   otherwise a store that has some refuses the migration.
        public static func dropTable(_ table: String, discardsChanges: Bool = false) -> Step {
            Step(table: table, action: .dropTable(discardsChanges: discardsChanges))
        }

        /// Gives a property another name. In a record that has both already the new one stands, unless a change that
        /// waits has written the old one: who wrote it knew no other.
        public static func renameProperty(_ name: PropertyName, to new: PropertyName, in table: String) -> Step {
            Step(table: table, action: .change(.rename(name, to: new)))
        }

        /// Removes a property.
        public static func dropProperty(_ name: PropertyName, of table: String) -> Step {
            Step(table: table, action: .change(.drop(name)))
        }

        /// Declares a column with another type, and turns the values into it that mean the same there: `"12"` into 12,
        /// 12 into `"12"`, 0 and 1 into truth values. Any other value stays as it is, as a column allows.
        public static func changeType(of name: PropertyName, in table: String, to type: TableSchema.ColumnType) -> Step
        {
            Step(table: table, action: .change(.convert(name, to: type)))
        }

        /// Changes records as the closure does. It is given whole records and parts of them, as they were sent, and is
        /// to do the same to both; it is called again if the store does the transaction again.
        ///
        /// The id and what only the server sets stay as they are, whatever it does.
        public static func rewrite(
            _ table: String, _ body: @escaping @Sendable (JSON) throws -> JSON
        ) -> Step {
            Step(table: table, action: .change(.rewrite(body)))
        }
    }
}
