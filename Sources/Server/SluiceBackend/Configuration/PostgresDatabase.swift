internal import Foundation
public import SluiceCore
internal import SluicePostgres

/// A PostgreSQL database with its user. The printed form shows only the hosts and the database's name.
public struct PostgresDatabase: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let address: PostgresAddress

    /// Creates a database from libpq's URL `postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`. It takes three
    /// parameters besides libpq's own: `pooler=transaction` (for a pooler such as pgbouncer, which gives each
    /// transaction another connection), `readers` (the number of connections for reads, by default 4) and
    /// `statement_timeout` in seconds (30).
    ///
    /// The server's certificate is checked (`sslmode=verify-full`), unless the URL disables this or the server is
    /// local.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`, without any part of the URL.
    public init(url: String) throws(SluiceError) { address = try PostgresAddress(url) }

    /// Hosts and database.
    public var description: String { address.description }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows no password either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BackendConfiguration.Database {
    /// Reads `sqlite:PATH`, `sqlite::memory:`, `postgres://…`, or `postgres:$VARIABLE` for a URL in the environment.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`. Its message has no part of a URL.
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
