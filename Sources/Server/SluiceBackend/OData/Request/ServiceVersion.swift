internal import HTTPTypes
internal import SluiceCore

/// The version of OData for an answer.
enum ServiceVersion: Sendable, Hashable {
    case v2
    /// 4.0, for clients that declare no later one.
    case v40
    case v401

    /// The segments of the service's root.
    var root: [String] { self == .v2 ? ["odata", "v2"] : ["odata", "v4"] }

    /// The wire for reading and changing the tables.
    var wire: ServerWire { self == .v2 ? .odataV2 : .odataV4 }

    /// The name and value of the version header in an answer.
    var header: (name: String, value: String) {
        switch self {
        case .v2: ("DataServiceVersion", "2.0")
        case .v40: ("OData-Version", "4.0")
        case .v401: ("OData-Version", "4.01")
        }
    }

    /// Returns the version of a request below the given root.
    ///
    /// - Throws: ``Refusal`` (400) if the client supports none of the versions (OData 4.01 Protocol, section 8.2.7;
    ///   OData v2, Overview, section 5).
    static func of(_ headers: HTTPFields, isV2: Bool) throws(Refusal) -> ServiceVersion {
        func number(_ name: String) -> Double? {
            // Microsoft's client appends a semicolon and a mark.
            HTTPField.Name(name).flatMap { headers[$0] }.flatMap { Double($0.prefix { $0 != ";" && $0 != " " }) }
        }
        if isV2 {
            if let most = number("MaxDataServiceVersion"), most < 1 { throw unknown("MaxDataServiceVersion") }
            if let version = number("DataServiceVersion"), version > 2 { throw unknown("DataServiceVersion") }
            return .v2
        }
        if let version = number("OData-Version"), version < 4 || version > 4.01 { throw unknown("OData-Version") }
        guard let most = number("OData-MaxVersion") else { return .v401 }
        if most < 4 { throw unknown("OData-MaxVersion") }
        return most < 4.01 ? .v40 : .v401
    }

    private static func unknown(_ header: String) -> Refusal {
        Refusal(.badRequest, "\(header) asks for a version that is not served; there are 2.0, 4.0 and 4.01")
    }
}
