public import SluiceBase
public import SluiceWire

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
        var dialect = Dialect(
            name: version.rawValue,
            columns: RowPage.SystemColumns(version: "__version", updatedAt: "__updatedAt", deleted: "__deleted"),
            createdAtColumn: nil, patchesUpdates: settings.update == .merge, includeCount: ("$count", "true"),
            odata: .v4,
            shape: .items, agent: .datasync, linksPages: true, versionsAreTags: true, reconcileEvery: 50,
            serverSet: settings.tables.compactMapValues { table in table.updatedAt.map { [$0] } }, keepsDeleted: false
        ) { endpoint, transport in
            ODataTransport(version: version, settings: settings, endpoint: endpoint, inner: transport)
        }
        dialect.namesKeys = true
        return dialect
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
