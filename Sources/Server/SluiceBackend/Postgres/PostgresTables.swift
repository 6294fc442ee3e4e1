internal import SluiceCore
internal import SluicePostgres
internal import Synchronization

/// The tables of a database with their current columns.
///
/// Another process may have added columns since this one started, and moved values into them. Each transaction
/// therefore reads a mark of the catalog, and the catalog itself if the mark has changed.
final class PostgresTables: Sendable {
    typealias Tables = [ExactName: any RecordStorage]

    /// The SQL of the mark.
    static let markSQL =
        "SELECT md5(string_agg(name || ' ' || columns || ' ' || coalesce(adopted, ''), ' ' ORDER BY name)) "
        + "FROM sluice_tables"

    private let known = Mutex<(mark: String, tables: Tables)?>(nil)

    /// Returns the tables of the catalog with that mark; nil if they have to be read.
    func tables(_ mark: String) -> Tables? {
        known.withLock { known in known?.mark == mark ? known?.tables : nil }
    }

    /// Stores the catalog's tables with their mark.
    func note(_ tables: Tables, _ mark: String) { known.withLock { $0 = (mark, tables) } }

    /// Reads the catalog. An unreadable table is left out; opening it reports the reason.
    static func read(_ connection: PostgresTransaction) throws -> Tables {
        var tables: Tables = [:]
        for row in try connection.run("SELECT name, columns, adopted FROM sluice_tables", []) {
            guard case .text(let name) = row[0], case .text(let text) = row[1],
                let columns = try? BackendCatalog.columns(text, of: name)
            else { continue }
            let schema = TableSchema(name, columns: columns)
            if case .text(let adopted) = row[2] {
                guard let table = try? AdoptedTable(name, adopted) else { continue }
                tables[ExactName(name)] = AdoptedRecords(table, schema)
            } else {
                tables[ExactName(name)] = PostgresRecords(schema)
            }
        }
        return tables
    }
}
