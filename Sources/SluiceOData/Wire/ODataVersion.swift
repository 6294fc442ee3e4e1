internal import HTTPTypes
internal import SluiceBase
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

    /// The spelling of filters.
    var style: ODataStyle {
        switch self {
        case .v2: .v3
        case .v4: .v4
        }
    }
}

extension Dialect {
    /// An OData v2 service, as filters, scripts, push and pull see it: a table for each entity set. What goes over the
    /// wire is made of it by ``ODataTransport``.
    ///
    /// A record's `id` is its key, `__version` its entity tag, `__updatedAt` the property that the set's settings name.
    /// Updates are PATCH; there are no marks of deletion, so a deleted record cannot be brought back.
    public static let odataV2 = odata(.v2)
    /// An OData v4 service: as ``odataV2``.
    public static let odataV4 = odata(.v4)

    /// The wire that stands for that version.
    public static func odata(_ version: ODataVersion) -> Dialect {
        Dialect(
            name: version.rawValue,
            columns: RowPage.SystemColumns(version: "__version", updatedAt: "__updatedAt", deleted: "__deleted"),
            createdAtColumn: nil, includeCount: ("$count", "true"), odata: .v4, shape: .items, agent: .datasync,
            linksPages: true)
    }
}
