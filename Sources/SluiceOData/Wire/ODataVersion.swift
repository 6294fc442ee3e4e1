public import SluiceBase
public import SluiceWire

/// Which generation of OData a service speaks.
public enum ODataVersion: String, Sendable, Hashable, CaseIterable {
    /// v2, as SAP Gateway and WCF Data Services speak it.
    case v2 = "odata-v2"
    /// v4.0 and v4.01.
    case v4 = "odata-v4"

    /// The header fields of every request (OData v2, Overview, section 5; OData 4.01 Protocol, section 8).
    package var headers: [(name: String, value: String)] {
        switch self {
        case .v2: [("DataServiceVersion", "2.0"), ("MaxDataServiceVersion", "2.0")]
        case .v4: [("OData-Version", "4.0"), ("OData-MaxVersion", "4.01")]
        }
    }

    /// The query option that has the server count all matching rows.
    package var count: (name: String, value: String) {
        switch self {
        case .v2: ("$inlinecount", "allpages")
        case .v4: ("$count", "true")
        }
    }

    /// The header field that names the method which a POST stands for (OData v2, Operations, section 5.2; OData 4.01 leaves
    /// it to the services, and those that have it know this name).
    var tunnelField: String {
        switch self {
        case .v2: "X-HTTP-Method"
        case .v4: "X-HTTP-Method-Override"
        }
    }

    /// The spelling of filters.
    var style: ODataStyle {
        switch self {
        case .v2: .v3
        case .v4: .v4
        }
    }
}

extension Dialect {
    /// An OData v2 service, as filters, scripts, push and pull see it: a table for each entity set.
    ///
    /// A record's `id` is its key, `__version` its entity tag, `__updatedAt` the property that the set's settings name.
    /// Updates name what changed; there are no marks of deletion, so a deleted record cannot be brought back. What goes
    /// over the wire is made of the tables form at the inner end of the chain, after all filters.
    public static let odataV2 = odata(.v2)
    /// An OData v4 service: as ``odataV2``.
    public static let odataV4 = odata(.v4)

    /// An OData service that needs settings.
    ///
    /// ```swift
    /// let settings = ODataSettings(tables: ["Orders": .init(updatedAt: "ChangedAt")])
    /// let client = SluiceClient(endpoint: endpoint, dialect: .odata(.v4, settings), transport: AsyncHTTPTransport())
    /// ```
    public static func odata(_ version: ODataVersion, _ settings: ODataSettings = ODataSettings()) -> Dialect {
        Dialect(
            name: version.rawValue,
            columns: RowPage.SystemColumns(version: "__version", updatedAt: "__updatedAt", deleted: "__deleted"),
            createdAtColumn: nil, patchesUpdates: settings.update == .merge, includeCount: ("$count", "true"),
            odata: .v4,
            shape: .items, agent: .datasync, linksPages: true, versionsAreTags: true, reconcileEvery: 50
        ) { endpoint, transport in
            ODataTransport(version: version, settings: settings, endpoint: endpoint, inner: transport)
        }
    }

    /// All wires that Sluice knows: those of tables backends (``all``), and OData's.
    public static let known: [Dialect] = all + [.odataV2, .odataV4]

    /// The wire of that name, those of OData among them: `odata-v4`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for any other name; the message lists the names.
    public init(known name: String) throws(SluiceError) {
        guard let dialect = Self.known.first(where: { $0.name == name }) else {
            let names = Self.known.map(\.name).joined(separator: ", ")
            throw SluiceError(.invalidArgument, "no dialect has the name \(name); known are \(names)")
        }
        self = dialect
    }
}
