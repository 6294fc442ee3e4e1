public import SluiceBase
public import SluiceSync

/// The facts about an old store that its file does not hold.
public struct AdoptionOptions: Sendable {
    /// The tables with the types of their columns and the spelling of names. Android's, iOS's and the JavaScript client's
    /// files tell neither booleans nor times from numbers; a column that cannot be told is refused by name.
    public var tables: [TableSchema] = []
    /// The server's names of old tables: `["TodoItems": "TodoItem"]`.
    public var names: [String: String] = [:]
    /// The old tables that are not the server's, and stay behind.
    public var leftTables: Set<String> = []
    /// The application's queries. A delta token is taken over by the query of its name and table, which has to be the
    /// one that the old application had under that name; an old token of a whole table by any query of the whole table.
    public var queries: [SyncSchedule.Pull] = []
    /// Returns the time in UTC at which a clock of the device shows a time. The Community Toolkit's stores have times
    /// without a zone.
    public var utc: (@Sendable (_ local: Timestamp) -> Timestamp)?

    /// Options; an empty set suffices for stores of the .NET and the Datasync clients.
    public init() {}
}
