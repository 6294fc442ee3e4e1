public import SluiceBase

/// A wire: how a tables backend wants to be asked and how it answers. One value for each backend family.
///
/// Answers are recognised by their shape, and each wire reads those of all. Another wire is a file with another value,
/// and its name in ``all``: filters, push and pull ask the value and know no wire by name.
///
/// ```swift
/// let client = SluiceClient(endpoint: endpoint, dialect: .azureV2, transport: transport)
/// ```
public struct Dialect: Sendable, CustomStringConvertible {
    /// How a record that is marked as deleted is brought back.
    package enum Undelete: Sendable, Hashable {
        /// `POST /tables/T/id` without a body.
        case post
        /// `PATCH /tables/T/id` with `{"deleted": false}`.
        case patch
        /// `PUT /tables/T/id?__includedeleted=true` with the record whole and `"deleted": false`.
        case put
    }

    /// The name by which settings choose the wire: `azure-v2`.
    public let name: String
    /// Header fields of every request, by name.
    package var headers: [(name: String, value: String)]
    /// The names of the columns that the server keeps, except for the time of creation.
    package var columns: RowPage.SystemColumns
    /// The name of the column that holds when a record was made; nil on a wire that has none.
    package var createdAtColumn: PropertyName?
    /// Whether system columns come back only when the query asks for them.
    var asksForSystemProperties: Bool
    /// Whether an update sends what changed (PATCH); else it sends the record whole (PUT).
    package var patchesUpdates: Bool
    /// How a deleted record is brought back.
    package var undelete: Undelete
    /// The query parameter, name and value, that makes deleted records visible.
    package var includeDeleted: (name: String, value: String)
    /// The query parameter, name and value, that asks for the count of all matching records.
    var includeCount: (name: String, value: String)
    /// The spelling of filters.
    package var odata: ODataStyle
    /// Where the rows stand in the answer to a list.
    package var shape: RowPage.Shape
    /// Whether a record's id may be an integer, in tables that are used online.
    package var allowsIntegerIDs: Bool
    /// The characters of a query's values, beside RFC 3986's unreserved ones, that are not percent-encoded.
    var keptInQueries: String
    /// How the client identifies itself.
    package var agent: ClientAgent
    /// Whether requests carry the application's key.
    var sendsApplicationKey: Bool
    /// Whether requests name the features they use.
    var reportsFeatures: Bool
    /// Whether the server reports where a list's next page is; else it has to be asked for until one is empty.
    package var linksPages: Bool
    /// Whether a version is a whole entity tag, quotes and `W/` included, and goes back as it is.
    package var versionsAreTags: Bool
    /// After how many pulls a named pull reconciles where the options do not say; nil means never. For servers whose
    /// word on what has changed is not always good.
    package var reconcileEvery: Int?
    /// Properties that the server sets besides ``columns``, under names of their own in each table. A body may have them.
    package var serverSet: [String: Set<PropertyName>]
    /// Whether the server keeps deleted rows, marked, and lists them. Where it does not, the first read of a query tells
    /// of no deletion, and 204 is the server's own answer to a change.
    package var keepsDeleted: Bool
    /// Whether records have key properties under names of their own beside the id, among which may be `ID`.
    package var namesKeys = false
    /// Puts around a client's transport what makes the wire's requests of those of the tables wire; nil where those are
    /// the wire's own.
    package var adapter: (@Sendable (Endpoint, any Transport) -> any Transport)?

    package init(
        name: String, headers: [(name: String, value: String)] = [],
        columns: RowPage.SystemColumns = RowPage.SystemColumns(), createdAtColumn: PropertyName? = "createdAt",
        asksForSystemProperties: Bool = false, patchesUpdates: Bool = true, undelete: Undelete = .post,
        includeDeleted: (name: String, value: String) = ("__includeDeleted", "true"),
        includeCount: (name: String, value: String) = ("$inlinecount", "allpages"), odata: ODataStyle = .v3,
        shape: RowPage.Shape = .tables, allowsIntegerIDs: Bool = false,
        keptInQueries: String = PercentEncoding.kept, agent: ClientAgent = .zumo, sendsApplicationKey: Bool = false,
        reportsFeatures: Bool = false, linksPages: Bool = true, versionsAreTags: Bool = false,
        reconcileEvery: Int? = nil, serverSet: [String: Set<PropertyName>] = [:],
        keepsDeleted: Bool = true,
        adapter: (@Sendable (Endpoint, any Transport) -> any Transport)? = nil
    ) {
        self.serverSet = serverSet
        self.keepsDeleted = keepsDeleted
        self.name = name
        self.headers = headers
        self.columns = columns
        self.createdAtColumn = createdAtColumn
        self.asksForSystemProperties = asksForSystemProperties
        self.patchesUpdates = patchesUpdates
        self.undelete = undelete
        self.includeDeleted = includeDeleted
        self.includeCount = includeCount
        self.odata = odata
        self.shape = shape
        self.allowsIntegerIDs = allowsIntegerIDs
        self.keptInQueries = keptInQueries
        self.agent = agent
        self.sendsApplicationKey = sendsApplicationKey
        self.reportsFeatures = reportsFeatures
        self.linksPages = linksPages
        self.versionsAreTags = versionsAreTags
        self.reconcileEvery = reconcileEvery
        self.adapter = adapter
    }

    /// The wire's name.
    public var description: String { name }

    /// The properties of a record by which programs judge it: its id and what only the server sets.
    package var judged: Set<PropertyName> {
        Set([columns.id, columns.version, columns.updatedAt, columns.deleted] + (createdAtColumn.map { [$0] } ?? []))
    }

    /// Whether the server keeps the property of that name, and refuses records that hold it: a system column other
    /// than the id, or any name that begins with two underscores.
    package func isSystemProperty(_ name: PropertyName) -> Bool {
        if name == columns.id { return false }
        return name.text.hasPrefix("__") || name == columns.version || name == columns.updatedAt
            || name == columns.deleted
            || name == createdAtColumn
    }
}

extension Dialect {
    /// The wires that Sluice knows, the oldest first.
    public static let all: [Dialect] = [.azureV1, .azureV2, .azureV3, .datasync]

    /// The wire of that name: `azure-v2`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for any other name; the message lists the names.
    public init(named name: String) throws(SluiceError) {
        guard let dialect = Self.all.first(where: { $0.name == name }) else {
            let names = Self.all.map(\.name).joined(separator: ", ")
            throw SluiceError(.invalidArgument, "no dialect has the name \(name); known are \(names)")
        }
        self = dialect
    }
}
