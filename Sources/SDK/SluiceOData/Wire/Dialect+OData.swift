public import SluiceBase
public import SluiceWire

extension Dialect {
    /// An OData v2 service, in the form used by filters, scripts, push and pull: a table for each entity set.
    ///
    /// A record's `id` is its key, `__version` its entity tag, `__updatedAt` the property named in the set's settings.
    /// Updates send only changed properties. There are no tombstones, so a deleted record cannot be brought back. The
    /// tables form becomes OData at the inner end of the chain, after all filters.
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
            columns: SystemColumns(
                version: "__version", updatedAt: "__updatedAt", deleted: "__deleted", createdAt: nil),
            patchesUpdates: settings.update == .merge, includeCount: ("$count", "true"),
            odata: .v4,
            shape: .items, agent: .datasync, linksPages: true, versionsAreTags: true, reconcileEvery: 50,
            serverSet: settings.tables.compactMapValues { table in table.updatedAt.map { [$0] } }, keepsDeleted: false
        ) { endpoint, transport in
            ODataTransport(version: version, settings: settings, endpoint: endpoint, inner: transport)
        }
        dialect.namesKeys = true
        return dialect
    }

    /// All wires that Sluice knows: those of tables backends (``all``), and those of OData.
    public static let known: [Dialect] = all + [.odataV2, .odataV4]

    /// Finds the wire of that name, including OData's: `odata-v4`.
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
