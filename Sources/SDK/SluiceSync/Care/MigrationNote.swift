package import SluiceBase

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
