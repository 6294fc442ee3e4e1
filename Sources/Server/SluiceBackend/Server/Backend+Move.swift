public import SluiceCore

extension Backend {
    /// Copies all records of the configuration's database into another, empty one. Versions are kept, so that clients'
    /// conditions hold, and so are the remembered effects of repeatable requests. Times are rounded up to the other
    /// database's precision and keep their order, so that clients that read by time miss nothing. Change tokens are
    /// valid for one database only, so clients with tokens are told (410) to start over.
    ///
    /// No one may change the database during the copy.
    ///
    /// - Returns: the number of copied records.
    /// - Throws: ``SluiceError`` of a store code, and `invalidArgument` if the other database has records.
    public static func move(
        _ configuration: BackendConfiguration, to database: BackendConfiguration.Database,
        environment: SyncEnvironment = .system
    ) async throws -> Int {
        var configuration = configuration
        // No requests are sent, so no plugins are needed.
        configuration.plugins = nil
        let source = try await Backend(configuration, environment: environment)
        do {
            let count = try await move(source, to: database, environment)
            try await source.close()
            return count
        } catch {
            try? await source.close()
            throw error
        }
    }

    private static func move(
        _ source: Backend, to database: BackendConfiguration.Database, _ environment: SyncEnvironment
    ) async throws -> Int {
        var configuration = source.configuration
        configuration.database = database
        configuration.replica = nil
        for index in configuration.tables.indices {
            // The source provides the records, and the columns inferred from its seed.
            configuration.tables[index].seed = nil
            configuration.tables[index].key = nil
            if let table = source.served.table(configuration.tables[index].name) {
                configuration.tables[index].columns = table.ownColumns.compactMap { table.schema.column($0) }
            }
        }
        let target = try await Backend(configuration, environment: environment)
        do {
            let count = try await copy(source, target)
            try await target.close()
            return count
        } catch {
            try? await target.close()
            throw error
        }
    }

    private static func copy(_ source: Backend, _ target: Backend) async throws -> Int {
        for table in target.served.all {
            let count = try await target.served.database.read { try table.count(matching: TableQuery(table.name), $0) }
            guard count == 0 else {
                throw SluiceError(.invalidArgument, "the database to move to has records already", table: table.name)
            }
        }
        var count = 0
        for table in source.served.all {
            guard let other = target.served.table(table.name) else { continue }
            count += try await copy(table, source, other, target)
        }
        let point = try await source.served.database.read { try $0.latestPoint() }
        let columns = "\"user\", request, fingerprint, expires, answer, stored"
        let requests = try await source.served.database.read { try $0.run("SELECT \(columns) FROM sluice_requests") }
        try await target.served.database.write { connection in
            // Numbers used as ids must not be assigned again.
            try BackendCatalog.noteID(point.number, connection)
            for values in requests {
                try connection.run("INSERT INTO sluice_requests (\(columns)) VALUES ($1, $2, $3, $4, $5, $6)", values)
            }
        }
        return count
    }

    /// Copies a table's records in the order of their changes.
    private static func copy(
        _ table: BackendTable, _ source: Backend, _ other: BackendTable, _ target: Backend
    ) async throws -> Int {
        let millisecond = Timestamp.ticksPerSecond / 1000
        // All databases keep microseconds.
        let step = millisecond / 1000
        var (count, last, position) = (0, Timestamp(ticks: 0), Timestamp.earliest)
        while true {
            let page = TableQuery(
                table.name, filter: .later(SystemColumn.updatedAt, than: position),
                order: [.init(SystemColumn.updatedAt)], top: BackendTable.expiryBatch)
            var records = try await source.served.database.read { try table.records(matching: page, $0) }
            for index in records.indices {
                guard let time = records[index][SystemColumn.updatedAt]?.string.flatMap({ Timestamp($0) }) else {
                    throw SluiceError(.storeCorrupt, "a record has no time", table: table.name)
                }
                position = time
                let rounded = (time.ticks + step - 1) / step * step
                last = Timestamp(ticks: max(rounded, last.ticks + step))
                records[index][SystemColumn.updatedAt] = JSON(last.description)
            }
            if records.isEmpty { return count }
            try await target.served.database.write { [records, last] connection in
                for record in records { try other.store(record, connection) }
                try BackendCatalog.noteChange(of: other.name, at: last, connection)
            }
            count += records.count
        }
    }
}
