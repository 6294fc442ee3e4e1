internal import Logging
internal import SluiceBase

extension SyncContext {
    /// Carries out those of the migrations that the store has not seen, one transaction each, while nobody else
    /// synchronises it.
    func migrate(_ migrations: [StoreMigration]) async throws {
        let columns = dialect.pushColumns
        try StoreMigration.validate(migrations, columns)
        guard try await !store.read({ try MigrationNote.outstanding(among: migrations, in: $0) }).isEmpty else {
            return
        }
        let environment = options.environment
        try await exclusively(seesAll: true) { store in
            // Another process may have done some meanwhile.
            for migration in try await store.read({ try MigrationNote.outstanding(among: migrations, in: $0) }) {
                try await store.write(at: .schema, environment) { writer in
                    let migrator = StoreMigrator(store: writer, columns: columns, now: environment.now())
                    try migrator.carryOut(migration)
                    try MigrationNote.put(migration.name, at: environment.now(), in: writer)
                }
                options.logger.info("the store has followed a migration", metadata: ["migration": "\(migration.name)"])
            }
        }
    }
}
