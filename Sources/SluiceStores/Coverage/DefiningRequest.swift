public import SluiceBase

/// What an offline store is filled with: a named read of one table, kept up to date as a whole.
///
/// ```swift
/// let request = DefiningRequest(
///     "agencies", of: "Agencies", try ODataOptions("$filter=Country eq 'US'&$expand=Bookings"))
/// ```
///
/// The store holds the union of what its defining requests give. A row that several give is stored once.
public struct DefiningRequest: Sendable, Hashable {
    /// The name, by which the request is refreshed, replaced and removed.
    public var name: String
    /// The table, or entity set, that is read.
    public var table: String
    /// The query options: `$filter`, `$select`, `$expand` and `$orderby`, and what else the server takes.
    public var options: ODataOptions

    /// A read of a table.
    public init(_ name: String, of table: String, _ options: ODataOptions = ODataOptions()) {
        self.name = name
        self.table = table
        self.options = options
    }
}
