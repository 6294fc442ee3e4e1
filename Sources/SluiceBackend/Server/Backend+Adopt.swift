public import SluiceCore
internal import SluicePostgres

/// What was done, or would be, to serve a table of the operator's, or to serve it no more.
public struct Adoption: Sendable, Hashable {
    /// The statements, in their order. They are carried out as one transaction.
    public var statements: [String]
    /// How many records the table has; nil where nothing was done.
    public var records: Int?
}

extension Backend {
    /// Makes an existing table of a PostgreSQL database one that can be served: the configuration names it with its key
    /// column (``BackendConfiguration/Table/key``) and its columns. Nothing of the table is changed but that it gets
    /// triggers, which keep a copy with versions, times and tombstones beside it.
    ///
    /// - Parameters:
    ///   - name: the table.
    ///   - configuration: the database, and the table's rules.
    ///   - isDryRun: whether only the statements are given back.
    /// - Throws: ``SluiceError`` of code `invalidTable` where the table cannot be adopted, with the reason, and of the store
    ///   codes.
    public static func adopt(
        _ name: String, of configuration: BackendConfiguration, isDryRun: Bool = false,
        environment: SyncEnvironment = .system
    ) async throws -> Adoption {
        try configuration.validate()
        guard let rules = configuration.tables.first(where: { $0.name == name }) else {
            throw SluiceError(.invalidTable, "the configuration has no such table", table: name)
        }
        return try await onPostgres(configuration, isDryRun, environment) { connection, catalog in
            let check = AdoptionCheck(connection: connection, rules: rules)
            let table = try check.table()
            let statements = AdoptionSQL(table, try check.copied(), home: try check.home()).adopting
            guard let catalog else { return Adoption(statements: statements) }
            if try catalog.integer("SELECT count(*) FROM sluice_runs") == 0 {
                try BackendCatalog.beginRun(chance: environment.random(), catalog)
            }
            for statement in statements { try connection.execute(statement) }
            let count = try catalog.integer("SELECT count(*) FROM \(AdoptedTable.quoted(table.copy))")
            return Adoption(statements: statements, records: Int(clamping: count))
        }
    }

    /// Takes everything away again that ``adopt(_:of:isDryRun:environment:)`` brought. The table stays, with its rows as
    /// they are; versions, tombstones and properties without a column are gone.
    public static func undoAdoption(
        _ name: String, of configuration: BackendConfiguration, isDryRun: Bool = false,
        environment: SyncEnvironment = .system
    ) async throws -> Adoption {
        try await onPostgres(configuration, isDryRun, environment) { connection, catalog in
            let transaction = catalog ?? PostgresTransaction.looking(connection)
            let isThere = try connection.query("SELECT to_regclass('sluice_tables') IS NOT NULL").text(0, 0) == "t"
            guard isThere, let table = try AdoptedTable.find(name, transaction) else {
                throw SluiceError(.invalidTable, "the table is not an adopted one", table: name)
            }
            guard let home = try connection.query("SELECT current_schema()").text(0, 0) else {
                throw SluiceError(.storeSchema, "the database's user has no schema in its search_path")
            }
            let statements = AdoptionSQL(table, TableSchema(name, columns: []), home: home).undoing
            guard catalog != nil else { return Adoption(statements: statements) }
            let count = try transaction.integer(
                "SELECT count(*) FROM \(AdoptedTable.quoted(table.copy)) WHERE NOT deleted")
            for statement in statements { try connection.execute(statement) }
            return Adoption(statements: statements, records: Int(clamping: count))
        }
    }

    /// Runs `body` in a transaction that writes, or, where nothing is to be done, in one that reads and without the
    /// backend's own tables.
    private static func onPostgres(
        _ configuration: BackendConfiguration, _ isDryRun: Bool, _ environment: SyncEnvironment,
        _ body: @escaping @Sendable (PostgresConnection, (any StorageConnection)?) throws -> Adoption
    ) async throws -> Adoption {
        guard case .postgres(let database) = configuration.database else {
            throw SluiceError(.invalidArgument, "tables are adopted in PostgreSQL databases alone")
        }
        guard isDryRun else {
            let storage = PostgresStorage(database.address, environment)
            do {
                let adoption = try await storage.write { try body(PostgresRecords.postgres($0).connection, $0) }
                try await storage.close()
                return adoption
            } catch {
                try? await storage.close()
                throw error
            }
        }
        let address = database.address
        let worker = PostgresWorker(label: "sluice.postgres.adopt") { try PostgresConnection(address) }
        do {
            let adoption = try await worker.run { connection in
                try connection.execute("BEGIN READ ONLY")
                return try body(connection, nil)
            }
            await worker.close()
            return adoption
        } catch let failure as PostgresFailure {
            await worker.close()
            throw failure.error(address)
        } catch {
            await worker.close()
            throw error
        }
    }
}
