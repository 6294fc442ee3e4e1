public import SluiceCore

/// What a backend serves: a database, and the tables in it.
///
/// ```swift
/// let configuration = BackendConfiguration(database: .memory, tables: [.init("todos")])
/// ```
public struct BackendConfiguration: Sendable, Hashable {
    /// Where the records are kept.
    public enum Database: Sendable, Hashable {
        /// A SQLite file; it is made if it is not there, its directory is not.
        case sqlite(path: String)
        /// In memory, for as long as the backend is open.
        case memory
    }

    /// A table's first records.
    public enum Seed: Sendable, Hashable {
        /// A JSON file with an array of records, or an object that holds one under `records`, `rows` or the table's
        /// name.
        case file(path: String)
        /// The records themselves.
        case records([JSON])
    }

    /// Where the records are kept.
    public var database: Database
    /// The tables.
    public var tables: [Table]
    /// How requests say who they come from; nil where no request has a user, and tokens are not looked at.
    public var authentication: Authentication?
    /// For how long the effects of requests with an id (`Repeatability-Request-ID`) are remembered, so that their
    /// repeats do nothing twice.
    public var requestIdsExpire: Duration

    /// A configuration.
    public init(
        database: Database = .memory, tables: [Table] = [], authentication: Authentication? = nil,
        requestIdsExpire: Duration = .seconds(86_400)
    ) {
        self.database = database
        self.tables = tables
        self.authentication = authentication
        self.requestIdsExpire = requestIdsExpire
    }

    /// Checks names, bounds and what rules refer to.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` or `invalidTable`.
    func validate() throws(SluiceError) {
        do {
            try check()
        } catch {
            throw error.error
        }
    }
}
