internal import SluiceBase

/// The OData generation of a service.
public enum ODataVersion: String, Sendable, Hashable, CaseIterable {
    /// v2, as in SAP Gateway and WCF Data Services.
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

    /// The query option that makes the server count all matching rows.
    package var count: (name: String, value: String) {
        switch self {
        case .v2: ("$inlinecount", "allpages")
        case .v4: ("$count", "true")
        }
    }

    /// The header field with the real method of a POST (OData v2, Operations, section 5.2; OData 4.01 leaves it to the
    /// services, and those that support it know this name).
    var tunnelField: String {
        switch self {
        case .v2: "X-HTTP-Method"
        case .v4: "X-HTTP-Method-Override"
        }
    }
}
