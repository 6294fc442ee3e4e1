internal import Foundation
public import SluiceCore
internal import SluicePostgres

/// Which PostgreSQL database, and as whom. What is printed of it shows hosts and name of the database alone.
public struct PostgresDatabase: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let address: PostgresAddress

    /// A database by its URL, `postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`, as libpq takes it. Besides libpq's
    /// own parameters there are `pooler=transaction` (a pooler such as pgbouncer gives each transaction another
    /// connection), `readers` (how many connections read, 4 by itself) and `statement_timeout` in seconds (30).
    ///
    /// The server's certificate is checked (`sslmode=verify-full`) unless the URL says otherwise or the server is on this
    /// machine.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`, which shows no part of the URL.
    public init(url: String) throws(SluiceError) { address = try PostgresAddress(url) }

    /// Hosts and database.
    public var description: String { address.description }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows no password either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BackendConfiguration.Database {
    /// Reads `sqlite:PATH`, `sqlite::memory:`, `postgres://…`, or `postgres:$VARIABLE` where the environment has the URL.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`. It shows no part of a URL.
    public init(_ text: String) throws(SluiceError) {
        if PostgresAddress.isAddress(text) {
            self = .postgres(try PostgresDatabase(url: text))
        } else if text.hasPrefix("postgres:$") {
            let name = String(text.dropFirst("postgres:$".count))
            guard let url = ProcessInfo.processInfo.environment[name], !url.isEmpty else {
                throw SluiceError(.invalidArgument, "the variable \(name) of the environment has no URL of a database")
            }
            self = .postgres(try PostgresDatabase(url: url))
        } else if text.hasPrefix("sqlite:"), text.utf8.count > 7 {
            let path = String(text.dropFirst(7))
            self = path == ":memory:" ? .memory : .sqlite(path: path)
        } else {
            throw SluiceError(
                .invalidArgument,
                "a database is sqlite:PATH, sqlite::memory:, postgres://USER:PASSWORD@HOST/DATABASE or postgres:$VARIABLE"
            )
        }
    }
}
