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

/// Records the migrations that a store has had, one record each, by name.
package enum MigrationNote {
    package static let schema = TableSchema("sluice_migrations", columns: [.init("at", .date)])

    static func put(_ name: String, at moment: Timestamp, in store: any StoreWriter) throws {
        try store.put(["id": JSON(name), "at": JSON(moment.description)], in: schema.name)
    }

    /// Returns the migrations that the store has not had, in their order.
    static func outstanding(
        among migrations: [StoreMigration], in store: any StoreReader
    ) throws -> [StoreMigration] {
        try migrations.filter { try store.record(RecordID($0.name), in: schema.name) == nil }
    }
}

extension StoreMigration {
    /// Checks that the migrations are valid.
    ///
    /// - Parameter columns: the server's own properties, which no migration touches.
    /// - Throws: ``SluiceError`` of code `invalidArgument` or `invalidTable`.
    static func validate(_ migrations: [StoreMigration], _ columns: PushColumns) throws {
        var names: Set<ExactName> = []
        for migration in migrations {
            guard !migration.name.isEmpty, names.insert(ExactName(migration.name)).inserted else {
                throw SluiceError(
                    .invalidArgument, "each migration has a name of its own, unlike \"\(migration.name)\"")
            }
            for step in migration.steps {
                try SyncTables.validate(step.table)
                switch step.action {
                case .renameTable(let name): try SyncTables.validate(name)
                case .dropTable: break
                case .change(let change):
                    let taken = columns.system.union([columns.id, "id"])
                    if let name = change.names.first(where: { $0.text.isEmpty || taken.contains($0) }) {
                        throw SluiceError(
                            .invalidArgument, "\"\(name)\" is the server's own or no name; no migration changes it",
                            table: step.table)
                    }
                }
            }
        }
    }
}
