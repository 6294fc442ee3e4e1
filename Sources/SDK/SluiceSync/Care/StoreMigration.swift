public import SluiceBase

/// A change of the shape of records for a new version of an application: names of tables and properties, and types of
/// columns. It is carried out once in each store, by its name, before any other work with the store.
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
/// It changes every copy of a record in the store: the table, waiting changes, sent bodies, their bases from the
/// server, the audit. It therefore describes a change of the records both here and on the server: a server that keeps
/// the old names sends them again.
///
/// Additions need no migration: a declared table gets new columns by itself. Keep the migrations of earlier versions
/// in the list, because stores of any age may exist.
public struct StoreMigration: Sendable {
    /// The name that identifies it in stores, permanently.
    public var name: String
    /// The steps, carried out in this order in one transaction.
    public var steps: [Step]

    /// A migration.
    public init(_ name: String, _ steps: [Step]) {
        self.name = name
        self.steps = steps
    }

    /// One step. It does nothing in a store without the table.
    public struct Step: Sendable {
        enum Action: Sendable {
            case renameTable(to: String)
            case dropTable(discardsChanges: Bool)
            case change(PropertyChange)
        }

        let table: String
        let action: Action

        /// Gives a table another name. Its waiting changes move to the new table. Its queries start from the
        /// beginning, and a reconcile finds rows that left in the meantime.
        public static func renameTable(_ table: String, to name: String) -> Step {
            Step(table: table, action: .renameTable(to: name))
        }

        /// Removes a table with its records.
        ///
        /// - Parameter discardsChanges: whether waiting changes are given up with it, each noted in the audit;
        ///   otherwise a store that has some refuses the migration.
        public static func dropTable(_ table: String, discardsChanges: Bool = false) -> Step {
            Step(table: table, action: .dropTable(discardsChanges: discardsChanges))
        }

        /// Gives a property another name. In a record with both, the new name's value stays. A waiting change that
        /// wrote the old name is the exception, because its author knew no other name.
        public static func renameProperty(_ name: PropertyName, to new: PropertyName, in table: String) -> Step {
            Step(table: table, action: .change(.rename(name, to: new)))
        }

        /// Removes a property.
        public static func dropProperty(_ name: PropertyName, of table: String) -> Step {
            Step(table: table, action: .change(.drop(name)))
        }

        /// Declares a column with another type, and converts the values with the same meaning there: `"12"` into 12,
        /// 12 into `"12"`, 0 and 1 into truth values. Any other value stays unchanged, as a column allows.
        public static func changeType(of name: PropertyName, in table: String, to type: TableSchema.ColumnType) -> Step
        {
            Step(table: table, action: .change(.convert(name, to: type)))
        }

        /// Changes records by a closure. It gets whole records and the parts of them that were sent, and must treat
        /// both alike. It is called again if the store repeats the transaction.
        ///
        /// The id and the server's properties stay unchanged in any case.
        public static func rewrite(
            _ table: String, _ body: @escaping @Sendable (JSON) throws -> JSON
        ) -> Step {
            Step(table: table, action: .change(.rewrite(body)))
        }
    }
}
