internal import SluiceBase

extension StoreImport {
    /// The most columns of a table, and the most indexes: SQLite takes 2,000, and three are the store's own.
    static let mostColumns = 1_997
    /// The most tables. Each costs a store something at every opening; no application has that many.
    static let mostTables = 10_000

    /// The engine's own tables, which every store has.
    static let own = Set(SyncTables.all.map(\.name))

    /// The tables to make, by a head of which nothing is believed: the engine's own as this version declares them, and
    /// those of the application.
    ///
    /// A table of the engine's that is not known here is of a newer version. It is neither made as the head says, as
    /// the newer version would then go on from what this one has not kept up, nor left out, as nobody knows what is
    /// lost by that.
    ///
    /// - Throws: ``SluiceError`` of code `invalidTable`.
    static func tables(_ declared: [TableSchema]) throws(SluiceError) -> [TableSchema] {
        guard declared.count <= mostTables else {
            throw SluiceError(
                .invalidTable, "the export declares \(declared.count) tables, and no more than \(mostTables) are read")
        }
        var tables = SyncTables.all
        var names: Set<ExactName> = []
        for table in declared {
            guard names.insert(ExactName(table.name)).inserted else {
                throw SluiceError(.invalidTable, "the export declares the table twice", table: table.name)
            }
            try checkSize(table)
            if own.contains(table.name) { continue }
            if table.name == SyncTables.pluginValues.name {
                // What plugins want to find, whatever the head has: another type would be refused at every opening.
                tables.append(SyncTables.pluginValues)
            } else if table.name.hasPrefix(SyncTables.prefix) {
                throw SluiceError(
                    .invalidTable, "the export has a table of the engine's own that this version does not know",
                    table: table.name)
            } else {
                try SyncTables.validate(table.name)
                tables.append(table)
            }
        }
        return tables
    }

    private static func checkSize(_ table: TableSchema) throws(SluiceError) {
        guard table.columns.count <= mostColumns else {
            throw SluiceError(
                .invalidTable,
                "the export declares \(table.columns.count) columns, and SQLite takes no more than \(mostColumns)",
                table: table.name)
        }
        guard table.indexes.count <= mostColumns, table.indexes.allSatisfy({ $0.count <= mostColumns }) else {
            throw SluiceError(
                .invalidTable, "the export declares more than \(mostColumns) indexes, or an index of more columns",
                table: table.name)
        }
    }
}
