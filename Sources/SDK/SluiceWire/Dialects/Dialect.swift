internal import HTTPTypes
public import SluiceBase

/// A wire: the protocol of a tables backend, for requests and answers. One value for each backend family.
///
/// Answers are recognised by their shape, and each wire reads the shapes of all. A new wire is a file with another
/// value, and its name in ``all``: filters, push and pull ask the value and know no wire by name.
///
/// ```swift
/// let client = SluiceClient(endpoint: endpoint, dialect: .azureV2, transport: transport)
/// ```
public struct Dialect: Sendable, CustomStringConvertible {
    /// The request that brings a deleted record back.
    package enum Undelete: Sendable, Hashable {
        /// `POST /tables/T/id` without a body.
        case post
        /// `PATCH /tables/T/id` with `{"deleted": false}`.
        case patch
        /// `PUT /tables/T/id?__includedeleted=true` with the whole record and `"deleted": false`.
        case put
    }

    /// The name by which settings choose the wire: `azure-v2`.
    public let name: String
    /// Header fields of every request, by name.
    package var headers: [(name: String, value: String)]
    /// The names of the columns that the server keeps.
    package var columns: SystemColumns
    /// Whether system columns come back only when the query asks for them.
    var asksForSystemProperties: Bool
    /// Whether an update sends only the changes (PATCH); else it sends the whole record (PUT).
    package var patchesUpdates: Bool
    /// The request that brings a deleted record back.
    package var undelete: Undelete
    /// The query parameter, name and value, that makes deleted records visible.
    package var includeDeleted: (name: String, value: String)
    /// The query parameter, name and value, that asks for the count of all matching records.
    var includeCount: (name: String, value: String)
    /// The spelling of filters.
    package var odata: ODataOptions.Style
    /// The place of the rows in the answer to a list.
    package var shape: RowPage.Shape
    /// Whether a record's id may be an integer, in tables that are used online.
    package var allowsIntegerIDs: Bool
    /// The characters of a query's values, beside RFC 3986's unreserved ones, that are not percent-encoded.
    var keptInQueries: String
    /// The client's identification.
    package var agent: ClientAgent
    /// Whether requests carry the application's key.
    var sendsApplicationKey: Bool
    /// Whether requests name the features that they use.
    var reportsFeatures: Bool
    /// Whether the server links a list's next page; else pages are requested until one is empty.
    package var linksPages: Bool
    /// Whether a version is a whole entity tag, quotes and `W/` included, and goes back as it is.
    package var versionsAreTags: Bool
    /// The number of pulls after which a named pull reconciles, if the options set none; nil means never. For servers
    /// whose change reports are not always complete.
    package var reconcileEvery: Int?
    /// Properties that the server sets besides ``columns``, under names of their own in each table. A body may have
    /// them.
    package var serverSet: [String: Set<PropertyName>]
    /// Whether the server keeps deleted rows, marked, and lists them. If not, the first read of a query reports no
    /// deletions, and 204 is the server's own answer to a change.
    package var keepsDeleted: Bool
    /// Whether records have key properties under names of their own beside the id, among which may be `ID`.
    package var namesKeys = false
    /// Wraps a client's transport and turns requests of the tables wire into the wire's own; nil where they are the
    /// same.
    package var adapter: (@Sendable (Endpoint, any Transport) -> any Transport)?

    package init(
        name: String, headers: [(name: String, value: String)] = [],
        columns: SystemColumns = SystemColumns(), asksForSystemProperties: Bool = false,
        patchesUpdates: Bool = true, undelete: Undelete = .post,
        includeDeleted: (name: String, value: String) = ("__includeDeleted", "true"),
        includeCount: (name: String, value: String) = ("$inlinecount", "allpages"), odata: ODataOptions.Style = .v3,
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

    /// The properties of a record with a meaning for programs: its id and the properties that only the server sets.
    package var judged: Set<PropertyName> { columns.all }

    /// Whether the server keeps the property of that name, and refuses records that hold it. It is a system column
    /// other than the id, or any name that begins with two underscores.
    package func isSystemProperty(_ name: PropertyName) -> Bool {
        name != columns.id && (name.text.hasPrefix("__") || columns.isSystem(name))
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

extension Dialect {
    /// Azure Mobile Apps (2015 to 2020), and servers with the same protocol.
    ///
    /// `ZUMO-API-VERSION` is 2.0.0. System columns have no prefix and come unasked. Ids are texts, or integers in
    /// older tables, which can only be used online. A list is an array, or `{"results": […], "count": N}` if a count
    /// was requested. A `Link` header has the next page's address, but only where more rows were requested than fit a
    /// page: without one the list may go on. Updates are PATCH, deleted records come back by `POST /tables/T/id`,
    /// filters are OData v3.
    public static let azureV2 = Dialect(
        name: "azure-v2", headers: [("ZUMO-API-VERSION", "2.0.0")], allowsIntegerIDs: true, reportsFeatures: true,
        linksPages: false)
}

extension Dialect {
    /// CommunityToolkit.Datasync 8 and later (from 2024).
    ///
    /// As ``azureV3``, but no version marks a request, the link to the next page is a query alone, and a deleted
    /// record comes back by PUT of the whole record with `"deleted": false`.
    public static let datasync = Dialect(
        name: "datasync", columns: SystemColumns(createdAt: nil), patchesUpdates: false,
        undelete: .put, includeDeleted: ("__includedeleted", "true"), includeCount: ("$count", "true"), odata: .v4,
        keptInQueries: "", agent: .datasync)
}

extension Dialect {
    /// Microsoft.Datasync 5 and 6 (2021 to 2024).
    ///
    /// `ZUMO-API-VERSION` is 3.0.0. There is no `createdAt`. A list is `{"items": […], "count": N, "nextLink": "…"}`,
    /// the link a whole address. Updates are PUT with the whole record, deleted records come back by PATCH with
    /// `{"deleted": false}`. Filters are OData v4, and every character is percent-encoded that is not unreserved.
    public static let azureV3 = Dialect(
        name: "azure-v3", headers: [("ZUMO-API-VERSION", "3.0.0")], columns: SystemColumns(createdAt: nil),
        patchesUpdates: false, undelete: .patch, includeDeleted: ("__includedeleted", "true"),
        includeCount: ("$count", "true"), odata: .v4, keptInQueries: "", agent: .datasync)
}

extension Dialect {
    /// Azure Mobile Services (2012 to 2015).
    ///
    /// No version marks a request; the application's key does. System columns begin with two underscores and come back
    /// only if requested with `__systemProperties`. Ids are texts, or integers in older tables. A list is an array, or
    /// `{"results": […], "count": N}` if a count was requested; no server links the next page. Updates are PATCH,
    /// deleted records come back by `POST /tables/T/id`, filters are OData v3.
    public static let azureV1 = Dialect(
        name: "azure-v1",
        columns: SystemColumns(
            version: "__version", updatedAt: "__updatedAt", deleted: "__deleted", createdAt: "__createdAt"),
        asksForSystemProperties: true, allowsIntegerIDs: true,
        sendsApplicationKey: true, reportsFeatures: true, linksPages: false)
}

/// The identification of a client, in `X-ZUMO-VERSION` and `User-Agent`.
package enum ClientAgent: Sendable, Hashable {
    /// In the form of the clients of Mobile Services and Mobile Apps: `ZUMO/3.0 (lang=swift; os=Linux; …; version=…)`.
    case zumo
    /// In the form of the clients of Datasync: `Datasync/… (…)`.
    case datasync

    /// The field's value. The operating system's version is left out, as by older clients that do not know it.
    package var text: String {
        switch self {
        case .zumo:
            "ZUMO/3.0 (lang=swift; os=\(Self.system); os_version=--; arch=\(Self.architecture); "
                + "version=sluice-\(SluiceVersion.text))"
        case .datasync:
            "Datasync/\(SluiceVersion.text) (sluice; lang=swift; os=\(Self.system); arch=\(Self.architecture))"
        }
    }

    private static var system: String {
        #if os(Linux)
            "Linux"
        #elseif os(macOS)
            "macOS"
        #elseif os(iOS)
            "iOS"
        #else
            "--"
        #endif
    }

    private static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            "--"
        #endif
    }
}

/// The request for the next page of a list.
extension Dialect {
    /// Returns the request for the page after `page`, or nil after the last.
    ///
    /// The server's own link counts first: `nextLink` of the answer, else its `Link` header with `rel=next`. A link
    /// may be absolute, a path with its query, or a query alone, with or without its question mark. If it leads to the
    /// resource of the request before, its query is sent to the endpoint, on any host that it names (``PageLink``).
    /// Any other link is replaced by the request before with a larger `$skip` and a smaller `$top`: Mobile Apps writes
    /// links that have lost their path. So is a missing link on a wire without links, until a page is empty.
    ///
    /// There is no next page after an empty one, nor after as many rows as `$top` allows, even if there is a link.
    ///
    /// - Parameters:
    ///   - response: the answer with the page.
    ///   - page: its rows.
    ///   - request: the request of that page as it entered the chain: from ``list(table:query:endpoint:)`` or from
    ///     here.
    ///   - endpoint: the server.
    package func nextPage(
        after response: SyncResponse, page: RowPage, request: SyncRequest, endpoint: Endpoint
    ) -> SyncRequest? {
        guard let first = page.rows.first, let path = request.head.path else { return nil }
        var parameters = QueryString(ofPath: path)
        let wanted = request.context.paging.remaining ?? parameters["$top"].flatMap { Int($0) }
        let remaining = wanted.map { $0 - page.rows.count }
        if let remaining, remaining <= 0 { return nil }
        var request = request
        let previousFirst = request.context.paging.previousFirst
        request.context.paging = Paging(remaining: remaining, previousFirst: first.id)
        request.context.features.remove(.linkHeader)
        if let linked = linkedPage(after: response, page: page, request: request, endpoint: endpoint) { return linked }
        let link = page.nextLink ?? LinkHeader.next(in: response)
        if link == nil {
            // Servers that ignore $skip send the same page without end.
            if linksPages || previousFirst.map({ !$0.isEmpty && $0 == first.id }) ?? false { return nil }
        }
        guard let before = Int(parameters["$skip"] ?? "0"), before <= Int.max - page.rows.count else { return nil }
        let skip = before + page.rows.count
        if link == nil, let count = page.count, skip >= count { return nil }
        parameters["$skip"] = String(skip)
        if let remaining { parameters["$top"] = String(remaining) }
        request.head.path = parameters.path
        return request
    }

    /// Returns the request for the answer's own link, or nil without a link that may be followed: see
    /// ``nextPage(after:page:request:endpoint:)``. A page with a link is not the last one, even if it is empty: some
    /// servers leave out rows after they have cut the page.
    package func linkedPage(after response: SyncResponse, page: RowPage, request: SyncRequest, endpoint: Endpoint)
        -> SyncRequest?
    {
        let header = page.nextLink == nil ? LinkHeader.next(in: response) : nil
        guard let link = page.nextLink ?? header, let path = request.head.path,
            let target = PageLink(link).target(from: path, endpoint: endpoint), target != path
        else { return nil }
        var next = request
        next.head.path = target
        next.context.isLinked = true
        if header != nil { next.context.features.insert(.linkHeader) }
        return next
    }
}
